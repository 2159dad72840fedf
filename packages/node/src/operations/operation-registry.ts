import type { SessionKey } from '../sessions/session-catalog.js'
import type { RunningOperation } from './running-operation.js'

/** The operations of one member that have not been answered yet, in the order in which they began. Server: service_context.cpp. */
export class OperationRegistry {
  readonly #running = new Map<number, RunningOperation>()
  #lastId = 0
  #stopped = false

  get size(): number {
    return this.#running.size
  }

  /** An id for the next operation: positive, an int32, unique while the member lives and for two thousand million operations. */
  nextId(): number {
    this.#lastId = this.#lastId === 0x7fff_ffff ? 1 : this.#lastId + 1
    return this.#lastId
  }

  begin<T extends RunningOperation>(operation: T): T {
    this.#running.set(operation.id, operation)
    if (this.#stopped) operation.stopWaiting()
    return operation
  }

  end(operation: RunningOperation): void {
    this.#running.delete(operation.id)
  }

  [Symbol.iterator](): IterableIterator<RunningOperation> {
    return this.#running.values()
  }

  /** @returns whether there was one */
  kill(id: number): boolean {
    const operation = this.#running.get(id)
    operation?.interrupt()
    return operation !== undefined
  }

  /** Kills the operations of sessions that fit, but not `spared`. @returns how many */
  killOfSessions(fits: (session: SessionKey) => boolean, spared: RunningOperation | null): number {
    let count = 0
    for (const operation of this.#running.values()) {
      if (operation === spared || operation.killed || operation.session === null || !fits(operation.session.key)) continue
      operation.interrupt()
      count++
    }
    return count
  }

  /** The member shuts down: ends what only waits, now and later. */
  stop(): void {
    this.#stopped = true
    for (const operation of this.#running.values()) operation.stopWaiting()
  }
}
