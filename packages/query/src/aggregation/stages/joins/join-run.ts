/**
 * Joins do not read other collections themselves. Their work is a generator that yields read
 * requests and is resumed with documents. The member that runs the pipeline serves the requests: a
 * node at once, a router when the shards have answered.
 */
import type { StageRun } from '../stage-run.js'
import type { StageWork } from '../stage-work.js'
import type { ForeignBatch, ForeignCursor, ForeignRead, JoinRequest } from './join-request.js'

export type JoinWork = Generator<JoinRequest, void, ForeignBatch>

/** It pushes its results to the next stage itself. */
export interface JoinRun {
  /** Gets documents in their order. Null: done with them without a read. */
  join(documents: readonly Uint8Array[]): JoinWork | null
  end?(): JoinWork
}

/** @param batchSize number of documents for each call of `join`; the last call may have fewer */
export function openJoin(join: JoinRun, next: StageRun, rest: StageWork, batchSize: number): StageRun {
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
        rest.addRequest(step.value, next, resume)
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
