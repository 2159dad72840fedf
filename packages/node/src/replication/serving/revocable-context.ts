import type {
  ActorContext,
  Address,
  CancelSignal,
  ClusterEvent,
  MessageKind,
  ReplyOf,
  RequestOf,
  RequestOptions,
  StepDetail,
} from '@shardlab/actor'
import { ForwardingContext } from '@shardlab/member'

/**
 * The context of work that ends before its process does. Once it is revoked, no promise of it
 * settles and no call has an effect, as in a crashed process.
 */
export class RevocableContext extends ForwardingContext {
  #isRevoked = false
  readonly #timers = new Set<string>()
  readonly #address: Address

  /** @param address by which other members reach the role: the name of its set */
  constructor(context: ActorContext, address: Address) {
    super(context)
    this.#address = address
  }

  override get address(): Address {
    return this.#address
  }

  revoke(): void {
    this.#isRevoked = true
    for (const timer of this.#timers) this.context.clearTimer(timer)
  }

  get isRevoked(): boolean {
    return this.#isRevoked
  }

  /** For promises that come from elsewhere. */
  guard<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      work.then(
        (value) => {
          if (!this.#isRevoked) resolve(value)
        },
        (error: unknown) => {
          if (!this.#isRevoked) reject(error)
        },
      )
    })
  }

  #guarded<T>(start: () => Promise<T>): Promise<T> {
    return this.#isRevoked ? new Promise(() => {}) : this.guard(start())
  }

  override request<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): Promise<ReplyOf<K>> {
    return this.#guarded(() => this.context.request(to, kind, request, options))
  }

  override send<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>): void {
    if (!this.#isRevoked) this.context.send(to, kind, request)
  }

  override sleep(durationMs: number, signal?: CancelSignal): Promise<void> {
    return this.#guarded(() => this.context.sleep(durationMs, signal))
  }

  override nextTurn(): Promise<void> {
    return this.#guarded(() => this.context.nextTurn())
  }

  override all<T extends readonly unknown[]>(values: T): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }> {
    return this.#guarded(() => this.context.all(values))
  }

  override reach(step: string, detail?: StepDetail): Promise<void> {
    return this.#guarded(() => this.context.reach(step, detail))
  }

  override detach(work: Promise<unknown>): void {
    this.context.detach(
      work.catch((error: unknown) => {
        if (!this.#isRevoked) throw error
      }),
    )
  }

  override setTimer(name: string, delayMs: number): void {
    if (this.#isRevoked) return
    this.#timers.add(name)
    this.context.setTimer(name, delayMs)
  }

  override emit(event: ClusterEvent): void {
    if (!this.#isRevoked) this.context.emit(event)
  }
}

export type GuardingContext = ActorContext & Pick<RevocableContext, 'guard'>
