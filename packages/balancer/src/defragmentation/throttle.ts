import type { ActorContext, CancelSignal } from '@shardlab/actor'

export class Throttle {
  readonly #context: ActorContext
  #lastAtMs = Number.NEGATIVE_INFINITY

  constructor(context: ActorContext) {
    this.#context = context
  }

  /**
   * Resolves when the next action may start.
   * @throws RequestFailedError when `signal` aborts
   */
  async turn(apartMs: number, signal: CancelSignal): Promise<void> {
    const now = this.#context.now()
    this.#lastAtMs = Math.max(now, this.#lastAtMs + apartMs)
    if (this.#lastAtMs > now) await this.#context.sleep(this.#lastAtMs - now, signal)
  }
}
