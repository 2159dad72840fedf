/** One command of a transaction at a time runs in a session. Server: session_catalog.cpp. */
import { createDeferred, type Deferred } from '@shardlab/actor'
import type { RunningOperation, SessionKey } from '@shardlab/member'

export class SessionCheckout {
  readonly #busy = new Map<SessionKey, Deferred<void>>()

  /** @throws CommandError with which the operation was killed */
  async acquire(key: SessionKey, operation: RunningOperation): Promise<void> {
    for (let busy = this.#busy.get(key); busy !== undefined; busy = this.#busy.get(key))
      await operation.interruptible(busy.promise)
    this.#busy.set(key, createDeferred<void>())
  }

  release(key: SessionKey): void {
    const busy = this.#busy.get(key)
    this.#busy.delete(key)
    busy?.resolve()
  }
}
