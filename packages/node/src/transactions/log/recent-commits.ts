/**
 * Transactions of several shards that have committed lately. Reads of a cluster time show each
 * from its commit timestamp on, which is the same on all shards and earlier than its entry here.
 * Server: durable and commit timestamps of WiredTiger.
 */
import { compareTimestamps, type TimestampPair } from '@shardlab/actor'
import type { LogEntry, StorageEngine } from '@shardlab/storage'
import { operationsIn } from './operations.js'

interface RecentCommit {
  readonly commitTime: TimestampPair
  readonly entry: Pick<LogEntry, 'ts' | 'term' | 'wallMs'>
  /** Documents `{ applyOps, … }`. */
  readonly parts: readonly Uint8Array[]
}

/** Readers of a past time are seldom much later than the commit. */
const commitsMax = 1000
const bytesMax = 16 * 1024 * 1024

export class RecentCommits {
  /** In the order of their entries. */
  #commits: RecentCommit[] = []
  #sizeBytes = 0
  /** A command looks at the data several times, and must find the same. */
  #last: { readonly engine: StorageEngine; readonly time: TimestampPair; readonly completed: StorageEngine } | null =
    null

  add(commit: RecentCommit): void {
    this.#commits.push(commit)
    this.#sizeBytes += sizeOf(commit)
    while (this.#commits.length > commitsMax || (this.#sizeBytes > bytesMax && this.#commits.length > 1))
      this.#sizeBytes -= sizeOf(this.#commits.shift()!)
    this.#last = null
  }

  clear(): void {
    this.#commits = []
    this.#sizeBytes = 0
    this.#last = null
  }

  adopt(other: RecentCommits): void {
    this.#commits = [...other.#commits]
    this.#sizeBytes = other.#sizeBytes
    this.#last = null
  }

  /**
   * @param engine the data at that time by the entries of the log; not changed
   * @returns a copy with the transactions that were prepared at that time and committed as of it
   */
  completed(engine: StorageEngine, time: TimestampPair): StorageEngine {
    const last = this.#last
    if (last !== null && last.engine === engine && compareTimestamps(last.time, time) === 0) return last.completed
    const newer = this.#commits.slice(1 + this.#commits.findLastIndex(({ entry }) => !isAfter(entry.ts, time)))
    const visible = newer.filter(({ commitTime }) => !isAfter(commitTime, time))
    if (visible.length === 0) {
      this.#last = null
      return engine
    }
    const completed = engine.clone()
    completed.keepsPreImages = false
    for (const { entry, parts } of visible)
      for (const change of operationsIn(parts, entry, completed)) completed.apply(change)
    this.#last = { engine, time, completed }
    return completed
  }
}

const isAfter = (a: TimestampPair, b: TimestampPair): boolean => compareTimestamps(a, b) > 0

function sizeOf({ parts }: RecentCommit): number {
  return parts.reduce((sum, { length }) => sum + length, 0)
}
