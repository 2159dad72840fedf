import type { SessionKey } from '../sessions/session-catalog.js'
import type { RunningOperation } from './running-operation.js'

/** Oldest first. Server: service_context.cpp. */
export class OperationRegistry {
  /** Ends of a linked list: operations come and go with every command, and lookups are rare. */
  #first: RunningOperation | null = null
  #last: RunningOperation | null = null
  #size = 0
  #lastId = 0
  #stopped = false

  get size(): number {
    return this.#size
  }

  /** A positive int32, unique for two thousand million operations. */
  nextId(): number {
    this.#lastId = this.#lastId === 0x7fff_ffff ? 1 : this.#lastId + 1
    return this.#lastId
  }

  begin<T extends RunningOperation>(operation: T): T {
    operation.previous = this.#last
    if (this.#last === null) this.#first = operation
    else this.#last.next = operation
    this.#last = operation
    this.#size++
    if (this.#stopped) operation.stopWaiting()
    return operation
  }

  end(operation: RunningOperation): void {
    const { previous, next } = operation
    if (previous === null && this.#first !== operation) return
    if (previous === null) this.#first = next
    else previous.next = next
    if (next === null) this.#last = previous
    else next.previous = previous
    operation.previous = operation.next = null
    this.#size--
  }

  /** A copy, so that operations may end during the iteration. */
  [Symbol.iterator](): IterableIterator<RunningOperation> {
    const running: RunningOperation[] = []
    for (let operation = this.#first; operation !== null; operation = operation.next) running.push(operation)
    return running.values()
  }

  /** @returns whether the operation exists */
  kill(id: number): boolean {
    for (const operation of this) {
      if (operation.id !== id) continue
      operation.interrupt()
      return true
    }
    return false
  }

  /** @returns number of killed operations */
  killOfSessions(fits: (session: SessionKey) => boolean, spared: RunningOperation | null): number {
    let count = 0
    for (const operation of this) {
      if (operation === spared || operation.killed || operation.session === null || !fits(operation.session.key))
        continue
      operation.interrupt()
      count++
    }
    return count
  }

  /** Ends all waits under {@link RunningOperation.signal}, now and later: the member shuts down. */
  stop(): void {
    this.#stopped = true
    for (const operation of this) operation.stopWaiting()
  }
}
