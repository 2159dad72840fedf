/** Settling it twice has no effect. */
export class Deferred<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T | PromiseLike<T>) => void
  readonly reject: (reason: unknown) => void

  constructor() {
    this.promise = new Promise<T>(storeFunctions)
    this.resolve = lastFunctions.resolve as Deferred<T>['resolve']
    this.reject = lastFunctions.reject as Deferred<T>['reject']
    // Left in `lastFunctions` they would keep the promise's waiters in memory.
    lastFunctions.resolve = nothing
    lastFunctions.reject = nothing
  }
}

export function createDeferred<T>(): Deferred<T> {
  return new Deferred<T>()
}

type Settle = (value: never) => void

/**
 * The functions of the promise under construction. One shared executor stores them here, which
 * saves a closure per promise.
 */
const lastFunctions: { resolve: Settle; reject: Settle } = { resolve: nothing, reject: nothing }

function nothing(): void {}

function storeFunctions(resolve: Settle, reject: Settle): void {
  lastFunctions.resolve = resolve
  lastFunctions.reject = reject
}
