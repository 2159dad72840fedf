import type { ForeignBatch, JoinRequest } from './joins/join-request.js'
import type { StageRun } from './stage-run.js'

/** More documents in a step cost less, fewer let others run sooner. */
const emittedInStep = 64

interface WaitingJoin {
  readonly request: JoinRequest
  readonly next: StageRun
  readonly resume: (batch: ForeignBatch | null) => void
}

interface Emission {
  readonly request: null
  readonly next: StageRun
  readonly documents: Iterator<Uint8Array | null, void>
  readonly done: (() => void) | null
}

/**
 * What the stages of a pipeline have left to do: joins wait for documents of other collections, and
 * stages that held their input emit their results in steps. A stack: the newest entry is first, so
 * that a stage takes no further input while it waits.
 */
export class StageWork {
  readonly #entries: (WaitingJoin | Emission)[] = []

  get isEmpty(): boolean {
    return this.#entries.length === 0
  }

  /**
   * @param next the stage after the join: once it is satisfied the request is dropped
   * @param resume called with the answer; null: the request was dropped
   */
  addRequest(request: JoinRequest, next: StageRun, resume: (batch: ForeignBatch | null) => void): void {
    this.#entries.push({ request, next, resume })
  }

  /**
   * Pushes the documents to the next stage in steps. A null among them: nothing yet.
   * @param done called afterwards; null: the next stage ends
   */
  emit(next: StageRun, documents: Iterator<Uint8Array | null, void>, done: (() => void) | null = null): void {
    this.#entries.push({ request: null, next, documents, done })
  }

  /** Null: no join waits, or emissions come first. */
  get request(): JoinRequest | null {
    for (;;) {
      const entry = this.#entries.at(-1)
      if (entry === undefined || entry.request === null) return null
      if (!entry.next.satisfied) return entry.request
      this.#entries.pop()
      entry.resume(null)
    }
  }

  serve(batch: ForeignBatch): void {
    ;(this.#entries.pop() as WaitingJoin).resume(batch)
  }

  /**
   * Emits some documents.
   * @returns how many, at least 1; 0: there was nothing to emit, or a request comes first
   */
  step(): number {
    const entries = this.#entries
    const at = entries.length - 1
    const entry = entries[at]
    if (entry === undefined || entry.request !== null) return 0
    const { next, documents, done } = entry
    let count = 0
    // Until the next stage has work of its own.
    while (count < emittedInStep && entries.length === at + 1) {
      count++
      const step = next.satisfied ? null : documents.next()
      if (step === null || step.done === true) {
        // Removed before `done` and `end`, which may add an emission.
        entries.length = at
        if (done === null) next.end()
        else done()
        break
      }
      if (step.value !== null) next.push(step.value)
    }
    return count
  }
}
