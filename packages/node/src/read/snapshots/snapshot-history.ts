/**
 * The data of a node at past cluster times: a clone of the data of now, in which the changes since
 * then are undone. Server: the history store of WiredTiger; manual:
 * reference/read-concern-snapshot.
 */
import { compareTimestamps, type TimestampPair } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { UndoLog, type StorageEngine } from '@shardlab/storage'

/** The one that was opened first is dropped first. */
const statesMax = 100

/** Was read, and is kept for the next reader. */
interface PastState {
  readonly engine: StorageEngine
  /** Of the last change that it includes. */
  readonly from: TimestampPair
  /** There is no later change up to this time. */
  upTo: TimestampPair
}

/** Shared by any number of copies and never modified. */
export interface ExportedHistory {
  readonly undoLog: UndoLog
  readonly states: readonly PastState[]
}

export class SnapshotHistory {
  readonly #engine: StorageEngine
  readonly #now: () => number
  readonly #onLimit: () => void
  readonly #undoLog: UndoLog
  /** Parameter minSnapshotHistoryWindowInSeconds. */
  windowSeconds: () => number = () => 300
  #states: PastState[] = []

  /**
   * Begins with the data of now.
   * @param onLimit called when a read fails because changes of that time were dropped
   */
  constructor(
    engine: StorageEngine,
    { now, bytesMax, onLimit }: { now: () => number; bytesMax: number; onLimit: () => void },
  ) {
    this.#engine = engine
    this.#now = now
    this.#onLimit = onLimit
    this.#undoLog = new UndoLog(bytesMax)
    engine.undoLog = this.#undoLog
  }

  /** Number of past states that are kept for readers. */
  get size(): number {
    return this.#states.length
  }

  get undoBytes(): number {
    return this.#undoLog.sizeBytes
  }

  /**
   * The data at a cluster time. It must not be changed, because other readers may share it: clone
   * it instead.
   * @param time no later change may get this time or an earlier one: on a primary, one that its
   *   clock has reached; on a secondary, one that it has applied
   * @throws CommandError 239 SnapshotTooOld: the time is before the history window, or changes
   *   since then were dropped
   */
  open(time: TimestampPair): StorageEngine {
    if (compareTimestamps(time, this.#oldest) < 0) throw tooOld(time)
    const known = this.#states.find(
      ({ from, upTo }) => compareTimestamps(from, time) <= 0 && compareTimestamps(time, upTo) <= 0,
    )
    if (known !== undefined) return known.engine
    return compareTimestamps(this.#undoLog.lastTs, time) <= 0 ? this.#openNow(time) : this.#openPast(time)
  }

  #openNow(time: TimestampPair): StorageEngine {
    return this.#keep(this.#undoLog.lastTs, time, () => this.#engine.clone())
  }

  #openPast(time: TimestampPair): StorageEngine {
    const undoLog = this.#undoLog
    if (compareTimestamps(time, undoLog.horizon) < 0) {
      this.#onLimit()
      throw tooOld(time)
    }
    return this.#keep(undoLog.timeOfChange(time), time, () => {
      const { engine, from } = this.#nextAfter(time)
      const past = engine.clone()
      past.undoTo(undoLog, from, time)
      return past
    })
  }

  /** The oldest state that is newer. */
  #nextAfter(time: TimestampPair): Pick<PastState, 'engine' | 'from'> {
    let next: Pick<PastState, 'engine' | 'from'> = { engine: this.#engine, from: this.#undoLog.lastTs }
    for (const state of this.#states)
      if (compareTimestamps(state.from, time) > 0 && compareTimestamps(state.from, next.from) < 0) next = state
    return next
  }

  #keep(from: TimestampPair, upTo: TimestampPair, engineOf: () => StorageEngine): StorageEngine {
    const same = this.#states.find((state) => compareTimestamps(state.from, from) === 0)
    if (same !== undefined) {
      if (compareTimestamps(same.upTo, upTo) < 0) same.upTo = upTo
      return same.engine
    }
    const engine = engineOf()
    this.#states.push({ engine, from, upTo })
    if (this.#states.length > statesMax) this.#states.shift()
    return engine
  }

  get #oldest(): TimestampPair {
    return [Math.floor(this.#now() / 1000) - this.windowSeconds(), 0]
  }

  /** The data was replaced. @param lastTs the time of its last change */
  reset(lastTs: TimestampPair): void {
    this.#states = []
    this.#undoLog.clear(lastTs)
  }

  /** The data is that of this time again; later changes are gone. */
  rolledBackTo(time: TimestampPair): void {
    this.#states = this.#states.filter(({ upTo }) => compareTimestamps(upTo, time) <= 0)
    this.#undoLog.cutAfter(time)
  }

  /** Drops what is older than the window. */
  expire(): void {
    const oldest = this.#oldest
    this.#states = this.#states.filter(({ upTo }) => compareTimestamps(upTo, oldest) >= 0)
    this.#undoLog.expire(oldest)
  }

  export(): ExportedHistory {
    return { undoLog: this.#undoLog.clone(), states: this.#states.map((state) => ({ ...state })) }
  }

  /** For a copy of the node, which has adopted its data. */
  adopt({ undoLog, states }: ExportedHistory): void {
    this.#undoLog.adopt(undoLog)
    this.#states = states.map((state) => ({ ...state }))
  }
}

function tooOld([seconds, increment]: TimestampPair): CommandError {
  return new CommandError(
    'SnapshotTooOld',
    `Read timestamp Timestamp(${seconds}, ${increment}) is older than the oldest available timestamp.`,
  )
}
