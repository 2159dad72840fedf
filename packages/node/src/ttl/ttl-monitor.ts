/** Manual: core/index-ttl. Server: ttl.cpp. Parameters: ttlMonitorEnabled, ttlMonitorSleepSecs. */
import {
  CommandError,
  BsonType,
  DocumentWriter,
  encodeKeyString,
  findField,
  RawValue,
  sameBytes,
  writeInt64,
} from '@shardlab/bson'
import { isIdKey, type Collection, type Index } from '@shardlab/storage'
import { giveUpTurn } from '@shardlab/member'
import type { Access, NodeHost, TtlCounters } from '../host/node-host.js'
import type { LogChange } from '../log/log-change.js'
import { newSlice } from '../read/new-slice.js'
import { TransactionConflict } from '../transactions/write-keys.js'

export const ttlTimer = 'ttl-monitor'

export class TtlMonitor {
  readonly counters: TtlCounters = { passes: 0, deletedDocuments: 0 }
  readonly #node: NodeHost
  /**
   * Collections with a TTL index or option; null: not computed since the last change of the
   * catalog.
   */
  #limited: readonly string[] | null = null

  constructor(node: NodeHost) {
    this.#node = node
  }

  start(): void {
    this.#node.context.setTimer(ttlTimer, this.#node.parameters.number('ttlMonitorSleepSecs') * 1000)
  }

  /** Called when collections, their indexes or options have changed. */
  invalidate(): void {
    this.#limited = null
  }

  /** Runs one pass. Entries that a full disk refuses are written by a later flush. */
  async wake(): Promise<void> {
    const node = this.#node
    try {
      if (node.parameters.bool('ttlMonitorEnabled')) await this.#pass()
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      node.context.log('warn', 'TTL monitor: the pass failed', { error: error.message })
    }
    if (!node.stopping.signal.aborted) this.start()
  }

  async #pass(): Promise<void> {
    const node = this.#node
    this.#limited ??= namespacesWithTimeLimit(node.engine.collections())
    for (const ns of this.#limited) {
      // The collection may have changed during the await for an earlier one.
      const collection = node.collection(ns)
      if (collection !== undefined && timeLimits(collection).length > 0) await this.#expire(ns)
    }
    await node.flush()
    this.counters.passes++
  }

  async #expire(ns: string): Promise<void> {
    const node = this.#node
    try {
      const collection = node.collection(ns)
      if (collection === undefined || collection.capped !== null) return
      for (const { index } of timeLimits(collection)) await this.#expireBy(index.name, ns, collection.uuid)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      node.context.log('warn', 'TTL monitor: skipped a collection', { namespace: ns, error: error.message })
    }
  }

  async #expireBy(indexName: string, ns: string, uuid: Uint8Array): Promise<void> {
    const node = this.#node
    const slice = newSlice(node)
    let limited = await this.#enter(indexName, ns, uuid)
    if (limited === null) return
    const range = expiredRange(limited.limit, node.context.now())
    for (const recordId of recordsIn(limited.limit.index, range)) {
      if (slice.isOver) {
        await node.flush()
        await giveUpTurn(node.context, null, slice)
        limited = await this.#enter(indexName, ns, uuid)
        if (limited === null) return
      }
      slice.worked()
      const { collection, limit, access } = limited
      const document = collection.get(recordId)?.document
      if (document === undefined || !hasKeyIn(limit.index, range, document)) continue
      // Orphans are left to the range deleter.
      if (access?.ownership?.owns(document) === false) continue
      const id = findField(document, '_id')!
      const object = new DocumentWriter(64).value('_id', id).finish()
      if (this.#delete({ op: 'd', ns, uuid, object, id, session: null })) this.counters.deletedDocuments++
    }
  }

  /** @returns false: a transaction has written the document, which is left to the next round */
  #delete(change: LogChange): boolean {
    try {
      this.#node.apply(change)
      return true
    } catch (error) {
      if (error instanceof TransactionConflict) return false
      throw error
    }
  }

  /** Await nothing between this and a change. Null: the collection or its index is gone. */
  async #enter(indexName: string, ns: string, uuid: Uint8Array): Promise<LimitedCollection | null> {
    const node = this.#node
    const entered = node.role.enterInBackground?.(ns) ?? null
    const access = entered instanceof Promise ? await entered : entered
    const collection = node.collection(ns)
    if (collection === undefined || !sameBytes(collection.uuid, uuid)) return null
    const limit = timeLimits(collection).find(({ index }) => index.name === indexName)
    return limit === undefined ? null : { collection, limit, access }
  }
}

interface LimitedCollection {
  readonly collection: Collection
  readonly limit: TimeLimit
  readonly access: Access | null
}

interface TimeLimit {
  readonly index: Index
  readonly seconds: number
}

function namespacesWithTimeLimit(collections: readonly Collection[]): string[] {
  return collections.filter((collection) => timeLimits(collection).length > 0).map(({ ns }) => ns)
}

/** Includes the limit of a clustered collection, which applies to `_id`. */
function timeLimits(collection: Collection): TimeLimit[] {
  const limits: TimeLimit[] = []
  for (const index of collection.indexes()) {
    const { pattern, spec } = index
    if (pattern.length !== 1 || pattern[0]!.direction === 'hashed') continue
    const seconds = secondsIn(isIdKey(index.key) && collection.clustered ? collection.options : spec)
    if (seconds !== null) limits.push({ index, seconds })
  }
  return limits
}

function secondsIn(document: Uint8Array): number | null {
  const value = findField(document, 'expireAfterSeconds')
  return value === undefined ? null : Math.trunc(value.asNumber())
}

interface KeysBetween {
  readonly low: string
  readonly high: string
}

/** The keys of expired dates. */
function expiredRange({ index, seconds }: TimeLimit, nowMs: number): KeysBetween {
  const cutoffMs = BigInt(nowMs) - BigInt(seconds) * 1000n
  const descending = index.pattern[0]!.direction === -1
  const earliest = encodeKeyString([dateValue(-(2n ** 63n))], [descending])
  const latest = encodeKeyString([dateValue(cutoffMs)], [descending])
  return descending ? { low: latest, high: earliest } : { low: earliest, high: latest }
}

function recordsIn(index: Index, { low, high }: KeysBetween): ReadonlySet<number> {
  const cursor = index.seek({ low, lowInclusive: true, high, highInclusive: true })
  const found = new Set<number>()
  for (let recordId = cursor.next(); recordId >= 0; recordId = cursor.next()) found.add(recordId)
  return found
}

/** Of several dates in an array the earliest counts. */
function hasKeyIn(index: Index, { low, high }: KeysBetween, document: Uint8Array): boolean {
  return index.keysOf(document).some((key) => key >= low && key <= high)
}

function dateValue(ms: bigint): RawValue {
  const bytes = new Uint8Array(8)
  writeInt64(bytes, 0, ms)
  return new RawValue(BsonType.date, bytes, 0, 8)
}
