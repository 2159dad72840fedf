/**
 * Joins do not read other collections themselves. Their work is a generator that yields read
 * requests and is resumed with documents. The member that runs the pipeline serves the requests: a
 * node at once, a router when the shards have answered.
 */
import type { RawValue } from '@shardlab/bson'
import type { StageRun } from '../stage-run.js'

export interface ForeignRead {
  readonly db: string
  /** Null: the pipeline begins with a source of its own. */
  readonly collection: string | null
  readonly stages: readonly Uint8Array[]
  /** Those of the command and of the enclosing joins. */
  readonly variables: ReadonlyMap<string, RawValue | undefined>
}

/** The position of an unfinished read; opaque to the pipeline. */
export type ForeignCursor = object

export interface ForeignBatch {
  readonly documents: readonly Uint8Array[]
  /** Null: the read is complete. */
  readonly cursor: ForeignCursor | null
}

export interface JoinRequest {
  readonly read: ForeignRead
  /** Null: a new read; else the next batch of the read that returned this cursor. */
  readonly cursor: ForeignCursor | null
}

export type JoinWork = Generator<JoinRequest, void, ForeignBatch>

/** It pushes its results to the next stage itself. */
export interface JoinRun {
  /** Gets documents in their order. Null: done with them without a read. */
  join(documents: readonly Uint8Array[]): JoinWork | null
  end?(): JoinWork
}

/** A stack: the newest request is served first. */
export class JoinRequests {
  readonly #entries: {
    readonly request: JoinRequest
    readonly next: StageRun
    readonly resume: (batch: ForeignBatch | null) => void
  }[] = []

  /**
   * @param next the stage after the join: once it is satisfied the request is dropped
   * @param resume called with the answer; null: the request was dropped
   */
  add(request: JoinRequest, next: StageRun, resume: (batch: ForeignBatch | null) => void): void {
    this.#entries.push({ request, next, resume })
  }

  get request(): JoinRequest | null {
    for (;;) {
      const entry = this.#entries.at(-1)
      if (entry === undefined) return null
      if (!entry.next.satisfied) return entry.request
      this.#entries.pop()
      entry.resume(null)
    }
  }

  serve(batch: ForeignBatch): void {
    this.#entries.pop()!.resume(batch)
  }
}

/** @param batchSize number of documents for each call of `join`; the last call may have fewer */
export function openJoin(join: JoinRun, next: StageRun, requests: JoinRequests, batchSize: number): StageRun {
  let queue: Uint8Array[] = []
  let work: JoinWork | null = null
  let inputEnded = false
  let phase: 'joining' | 'ending' | 'ended' = 'joining'

  const begin = (): JoinWork | null => {
    if (next.satisfied) queue = []
    while (queue.length > 0 && (inputEnded || queue.length >= batchSize)) {
      const begun = join.join(queue.splice(0, batchSize))
      if (begun !== null) return begun
    }
    if (!inputEnded || phase !== 'joining') return null
    phase = 'ending'
    return next.satisfied || join.end === undefined ? null : join.end()
  }
  const advance = (batch: ForeignBatch | null): void => {
    let answer = batch
    for (;;) {
      work ??= begin()
      if (work === null) break
      const step: IteratorResult<JoinRequest, void> = answer === null ? work.next() : work.next(answer)
      answer = null
      if (step.done !== true) {
        requests.add(step.value, next, resume)
        return
      }
      work = null
    }
    if (phase === 'ending') {
      phase = 'ended'
      next.end()
    }
  }
  const resume = (batch: ForeignBatch | null): void => {
    // The request was dropped: the rest of this batch is not needed.
    if (batch === null) work = null
    advance(batch)
  }
  return {
    push(document) {
      queue.push(document)
      if (work === null && queue.length >= batchSize) advance(null)
    },
    end() {
      inputEnded = true
      if (work === null) advance(null)
    },
    get satisfied() {
      return next.satisfied
    },
  }
}

/** Stops early if `take` returns false. */
export function* readForeign(read: ForeignRead, take: (document: Uint8Array) => boolean | void): JoinWork {
  let cursor: ForeignCursor | null = null
  do {
    const batch: ForeignBatch = yield { read, cursor }
    for (const document of batch.documents) if (take(document) === false) return
    ;({ cursor } = batch)
  } while (cursor !== null)
}
