/** A promise with its two ends. Settling it twice has no effect. */
export class Deferred<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T | PromiseLike<T>) => void
  readonly reject: (reason: unknown) => void

  constructor() {
    this.promise = new Promise<T>(keepEnds)
    this.resolve = endsOfLast.resolve as Deferred<T>['resolve']
    this.reject = endsOfLast.reject as Deferred<T>['reject']
    // They would keep whoever waits in memory.
    endsOfLast.resolve = nothing
    endsOfLast.reject = nothing
  }
}

export function createDeferred<T>(): Deferred<T> {
  return new Deferred<T>()
}

/** Of a promise of anything. */
type Settle = (value: never) => void

/** A promise gives its ends away while it is being made: kept here until then, none of them needs a closure of its own for that. */
const endsOfLast: { resolve: Settle; reject: Settle } = { resolve: nothing, reject: nothing }

function nothing(): void {}

function keepEnds(resolve: Settle, reject: Settle): void {
  endsOfLast.resolve = resolve
  endsOfLast.reject = reject
}
