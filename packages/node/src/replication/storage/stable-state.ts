/**
 * The state of a member at an entry that a majority has, from which a rollback and majority reads
 * start. Server: the stable timestamp of WiredTiger.
 */
import { CommandError, readUint32, type RawValue } from '@shardlab/bson'
import { compareOpTimes, isNullOpTime, nullOpTime, type OpTime } from '@shardlab/replication'
import { decodeLogEntry, type StorageEngine } from '@shardlab/storage'
import type { NodeStorage } from '../../host/node-storage.js'
import type { RetryHistory } from '../../retry/retry-history.js'
import { applyLogged, type LoggedTransactions } from '../../transactions/log/logged-transactions.js'

/** Clones share pages with the live data, which then copies a page at its first change. */
const cloneEveryMs = 1000
const batchBytes = 1024 * 1024

interface State {
  readonly engine: StorageEngine
  readonly retries: RetryHistory
  readonly transactions: LoggedTransactions
  optime: OpTime
}

export class StableState {
  readonly #storage: NodeStorage
  readonly #now: () => number
  #stable: State
  /** Becomes stable once a majority has its entry. Null: none. */
  #candidate: State | null = null
  #clonedAtMs = 0
  #committed = nullOpTime

  /** Begins at the data of now: call it before recovery, and {@link reset} after the checkpoint. */
  constructor(storage: NodeStorage, now: () => number) {
    this.#storage = storage
    this.#now = now
    this.#stable = this.#clone()
  }

  get optime(): OpTime {
    return this.#stable.optime
  }

  /** After the commit point has advanced. */
  advance(committed: OpTime): void {
    this.#committed = committed
    this.#renew(committed)
    const { oplog } = this.#storage.log
    if (oplog.isOversized && compareOpTimes(this.#stable.optime, committed) < 0) this.#replayTo(this.#stable, committed)
    this.#keepOplog()
  }

  #renew(committed: OpTime): void {
    if (this.#candidate !== null && compareOpTimes(this.#candidate.optime, committed) <= 0) {
      this.#stable = this.#candidate
      this.#candidate = null
    }
    const last = this.#lastApplied
    if (this.#candidate !== null || this.#now() - this.#clonedAtMs < cloneEveryMs) return
    if (compareOpTimes(last, this.#stable.optime) <= 0) return
    const clone = this.#clone()
    if (compareOpTimes(last, committed) <= 0) this.#stable = clone
    else this.#candidate = clone
  }

  /**
   * The data at the newest entry that a majority has; it must not be changed.
   * @throws CommandError 134 ReadConcernMajorityNotAvailableYet: the oplog has dropped entries that
   *   are needed
   */
  engineAt(committed: OpTime): StorageEngine {
    if (compareOpTimes(this.#stable.optime, committed) < 0 && !this.#replayTo(this.#stable, committed)) {
      if (compareOpTimes(this.#lastApplied, committed) > 0) throw majorityNotAvailable()
      this.reset()
    }
    return this.#stable.engine
  }

  /**
   * Gives the live data the state after this entry, and removes later ones from the oplog.
   * @returns false: the oplog has lost the entries in between; nothing has changed
   */
  rollBackTo(position: OpTime): boolean {
    const { engine, log, retries } = this.#storage
    if (compareOpTimes(position, this.#stable.optime) < 0) return false
    if (!this.#replayTo(this.#stable, position)) return false
    this.#candidate = null
    engine.adopt(this.#stable.engine)
    retries.adopt(this.#stable.retries.clone())
    log.transactions.adopt(this.#stable.transactions)
    log.oplog.truncateAfter(position)
    return true
  }

  /** The data was replaced. */
  reset(): void {
    this.#candidate = null
    this.#stable = this.#clone()
    // The only member of a set keeps none.
    if (this.#storage.log.oplog.keepsEntries) this.#keepOplog()
  }

  /**
   * A rollback replays the entries after the stable state, and its common point is not before the
   * commit point.
   */
  #keepOplog(): void {
    const { optime } = this.#stable
    this.#storage.log.oplog.keepFrom(compareOpTimes(optime, this.#committed) < 0 ? optime : this.#committed)
  }

  get #lastApplied(): OpTime {
    return this.#storage.log.lastApplied?.optime ?? nullOpTime
  }

  #clone(): State {
    const { engine, log, retries } = this.#storage
    this.#clonedAtMs = this.#now()
    return {
      engine: engine.clone(),
      retries: retries.clone(),
      transactions: log.transactions.clone(),
      optime: this.#lastApplied,
    }
  }

  /** @returns false: the oplog does not have all entries up to there */
  #replayTo(state: State, position: OpTime): boolean {
    const stored = (ns: string, id: RawValue) => state.engine.collection(ns)?.findById(id)?.document
    while (compareOpTimes(state.optime, position) < 0) {
      const found = this.#entriesAfter(state.optime)
      if (found === null || found.length === 0) return false
      for (let at = 0; at < found.length && compareOpTimes(state.optime, position) < 0;) {
        const length = readUint32(found, at)
        const entry = decodeLogEntry(found.slice(at, at + length), stored)
        const parts = applyLogged(entry, state.engine, state.transactions)
        state.retries.record(entry, parts)
        state.optime = { ts: entry.ts, term: entry.term }
        at += length
      }
    }
    return true
  }

  /** Null: the oplog has dropped them. */
  #entriesAfter(optime: OpTime): Uint8Array | null {
    const { oplog } = this.#storage.log
    if (!isNullOpTime(optime)) {
      const found = oplog.entriesAfter(optime, batchBytes)
      return found.outcome === 'entries' ? found.entries : null
    }
    const window = oplog.window()
    return window.start === 0 ? window.bytesAt(0, batchBytes) : null
  }
}

export function majorityNotAvailable(): CommandError {
  return new CommandError(
    'ReadConcernMajorityNotAvailableYet',
    'Read concern majority reads are currently not possible.',
  )
}
