/**
 * The collections of a node at past cluster times, for read concern snapshot. The first read at a
 * time keeps the state, which serves every time until the next change. Server: the history window
 * of WiredTiger; manual: reference/read-concern-snapshot.
 */
import { compareTimestamps, type TimestampPair } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { StorageEngine } from '@shardlab/storage'

/** Parameter minSnapshotHistoryWindowInSeconds. */
const historyWindowMs = 300_000
/** The oldest state is dropped first. */
const statesMax = 100

interface PastState {
  readonly engine: StorageEngine
  /** Time of the last change that the state includes. */
  readonly from: TimestampPair
  /** Time of the first change that the state lacks; null: the state is current. */
  until: TimestampPair | null
  readonly takenAtMs: number
}

export class SnapshotHistory {
  readonly #engine: StorageEngine
  #states: PastState[] = []
  #lastChange: TimestampPair = [0, 0]

  constructor(engine: StorageEngine) {
    this.#engine = engine
  }

  get size(): number {
    return this.#states.length
  }

  /** Called after each change. */
  recordChange(time: TimestampPair): void {
    this.#lastChange = time
    const newest = this.#states.at(-1)
    if (newest !== undefined) newest.until ??= time
  }

  /**
   * @param time one that the node's clock has reached
   * @throws CommandError 239 SnapshotTooOld if the engine has changed since then and no earlier
   *   read kept the state
   */
  at(time: TimestampPair, nowMs: number): StorageEngine {
    this.expire(nowMs)
    const kept = this.#states.find(
      ({ from, until }) => compareTimestamps(from, time) <= 0 && (until === null || compareTimestamps(time, until) < 0),
    )
    if (kept !== undefined) return kept.engine
    if (compareTimestamps(this.#lastChange, time) > 0) {
      throw new CommandError(
        'SnapshotTooOld',
        `Read timestamp Timestamp(${time[0]}, ${time[1]}) is older than the oldest available timestamp.`,
      )
    }
    const state = { engine: this.#engine.clone(), from: this.#lastChange, until: null, takenAtMs: nowMs }
    this.#states.push(state)
    if (this.#states.length > statesMax) this.#states.shift()
    return state.engine
  }

  adopt(other: SnapshotHistory): void {
    this.#states = other.#states.map((state) => ({ ...state }))
    this.#lastChange = other.#lastChange
  }

  expire(nowMs: number): void {
    if (this.#states.length > 0)
      this.#states = this.#states.filter(({ takenAtMs }) => nowMs - takenAtMs <= historyWindowMs)
  }
}
