/**
 * Stages that read other collections: `$lookup`, `$graphLookup`, `$unionWith`. Such a stage does no reading itself. Its work
 * is a generator that yields what it wants read and is resumed with documents; whoever runs the pipeline serves the
 * requests, at once (a storage node) or when the shards have answered (a router).
 */
import type { RawValue } from '@shardlab/bson'
import type { StageRun } from '../stage-run.js'

/** A pipeline over another collection. */
export interface ForeignRead {
  readonly db: string
  /** Null: the pipeline begins with a source of its own. */
  readonly collection: string | null
  readonly stages: readonly Uint8Array[]
  /** The variables that its expressions see: those of the command and of the joins around it. */
  readonly variables: ReadonlyMap<string, RawValue | undefined>
}

/** What is left of a read; only the reader knows what is in it. */
export type ForeignCursor = object

export interface ForeignBatch {
  readonly documents: readonly Uint8Array[]
  /** Null: these were the last. */
  readonly cursor: ForeignCursor | null
}

export interface JoinRequest {
  readonly read: ForeignRead
  /** Null: from the beginning; else more of a read that this was given for. */
  readonly cursor: ForeignCursor | null
}

/** Work that stops for documents of other collections. */
export type JoinWork = Generator<JoinRequest, void, ForeignBatch>

/** A join at work, between two stages. What it makes it pushes on itself. */
export interface JoinRun {
  /** Takes documents in their order. Null: it needed nothing and is done with them. */
  join(documents: readonly Uint8Array[]): JoinWork | null
  /** After the last of them. */
  end?(): JoinWork
}

/** Where the joins of a pipeline leave their requests. */
export class JoinRequests {
  readonly #entries: {
    readonly request: JoinRequest
    readonly next: StageRun
    readonly resume: (batch: ForeignBatch | null) => void
  }[] = []

  /**
   * @param next what the join gives its documents to: once that is satisfied the request is dropped
   * @param resume called with the answer; null: nobody wants it any more
   */
  add(request: JoinRequest, next: StageRun, resume: (batch: ForeignBatch | null) => void): void {
    this.#entries.push({ request, next, resume })
  }

  /** What is to be read next; null: nothing waits. */
  get request(): JoinRequest | null {
    for (;;) {
      const entry = this.#entries.at(-1)
      if (entry === undefined) return null
      if (!entry.next.satisfied) return entry.request
      this.#entries.pop()
      entry.resume(null)
    }
  }

  /** Answers {@link request}. */
  serve(batch: ForeignBatch): void {
    this.#entries.pop()!.resume(batch)
  }
}

/**
 * Runs a join between two stages.
 * @param batchSize so many documents are given to `join` at once, fewer at the end
 */
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
    // The documents at work are wanted by nobody any more.
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

/** Reads to the end, or until `take` says false. */
export function* readForeign(read: ForeignRead, take: (document: Uint8Array) => boolean | void): JoinWork {
  let cursor: ForeignCursor | null = null
  do {
    const batch: ForeignBatch = yield { read, cursor }
    for (const document of batch.documents) if (take(document) === false) return
    ;({ cursor } = batch)
  } while (cursor !== null)
}
