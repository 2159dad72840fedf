/**
 * `local.oplog.rs` as a collection that clients can read. It is computed while it is scanned.
 * Server: collection_scan.cpp, query_planner_analysis.cpp (bounds on `ts`); manual:
 * core/replica-set-oplog.
 */
import { timestampPair } from '@shardlab/actor'
import { BsonType, DocumentWriter, readInt32 } from '@shardlab/bson'
import type { FilterNode } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'
import {
  IndexFilters,
  type Collection,
  type DocumentScan,
  type ScanOptions,
  type StorageEngine,
  type StoredRecord,
} from '@shardlab/storage'
import type { Oplog } from './oplog.js'
import type { OplogWindow } from './oplog-window.js'
import { shownEntry } from './shown-entry.js'

export const oplogNs = 'local.oplog.rs'

/** The same on every member, so that cursors recognize it. */
const oplogUuid = new Uint8Array([0x6f, 0x70, 0x6c, 0x6f, 0x67, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 1])

export interface OplogReader {
  readonly behaviours: Pick<Behaviours, 'oplogEntries'>
  readonly oplog: Oplog
  /** Its log is not shown to clients. */
  readonly isStandalone: boolean
}

/** Undefined: any other collection. */
export function oplogCollection({ oplog, behaviours, isStandalone }: OplogReader, ns: string): Collection | undefined {
  return ns === oplogNs && !isStandalone
    ? new OplogCollection(oplog.window(), oplog.sizeBytesMax, behaviours)
    : undefined
}

/** All collections of a database; the oplog is first. */
export function collectionsAndOplog(
  host: OplogReader & { readonly engine: Pick<StorageEngine, 'collections'> },
  db: string,
): Collection[] {
  const oplog = db === 'local' ? oplogCollection(host, oplogNs) : undefined
  const collections = host.engine.collections(db)
  return oplog === undefined ? collections : [oplog, ...collections]
}

/** Record ids are positions plus one. */
class OplogCollection implements Collection {
  readonly ns = oplogNs
  readonly uuid = oplogUuid
  readonly options: Uint8Array
  readonly capped: { readonly sizeBytes: number; readonly documents: null }
  readonly clustered = false
  readonly defaultCollation = null
  readonly indexFilters = new IndexFilters()
  readonly documentsWithoutKeys = 0
  readonly #window: OplogWindow
  readonly #layout: Behaviours['oplogEntries']

  constructor(window: OplogWindow, sizeBytesMax: number, { oplogEntries }: Pick<Behaviours, 'oplogEntries'>) {
    this.#window = window
    this.#layout = oplogEntries
    this.capped = { sizeBytes: sizeBytesMax, documents: null }
    this.options = new DocumentWriter(64)
      .bool('capped', true)
      .double('size', sizeBytesMax)
      .bool('autoIndexId', false)
      .finish()
  }

  get count(): number {
    return this.#window.count
  }

  get dataSizeBytes(): number {
    return this.#window.sizeBytes
  }

  cappedOverflow(): readonly StoredRecord[] {
    return []
  }

  indexes(): readonly [] {
    return []
  }

  index(): undefined {}

  findById(): undefined {}

  get(recordId: number): StoredRecord | undefined {
    const entry = this.#window.entryAt(recordId - 1)
    return entry === undefined ? undefined : { recordId, document: shownEntry(entry, this.#layout) }
  }

  scan({ reverse = false, after = -1, until = Number.POSITIVE_INFINITY }: ScanOptions = {}): DocumentScan {
    return new OplogScan(this.#window, this.#layout, reverse, after, until)
  }

  /** Positions follow from the conditions on `ts`, by which the entries are ordered. */
  scanBounds(root: FilterNode): ScanOptions {
    const conditions = root.kind === 'and' ? root.children : [root]
    let after = -1
    let until = Number.POSITIVE_INFINITY
    for (const node of conditions) {
      if (node.kind !== 'comparison' || node.path !== 'ts' || node.value.type !== BsonType.timestamp) continue
      const [seconds, increment] = timestampPair(node.value)
      const { operator } = node
      // The predicate is tested, too: bounds may be wider.
      if (operator === 'eq' || operator === 'gt' || operator === 'gte')
        after = Math.max(after, this.#window.seek([seconds, increment]))
      if (operator === 'eq' || operator === 'lt' || operator === 'lte')
        until = Math.min(until, this.#window.seek([seconds, increment + 1]))
    }
    return { after, until }
  }

  snapshot(): Collection {
    return this
  }

  addKeys(): number {
    return 0
  }

  startIndexBuild(): never {
    throw new Error('the oplog has no indexes')
  }
}

class OplogScan implements DocumentScan {
  readonly #layout: Behaviours['oplogEntries']
  readonly #window: OplogWindow
  readonly #after: number
  readonly #entries: Iterator<readonly [position: number, entry: Uint8Array]>
  recordId = -1
  bytes: Uint8Array = new Uint8Array(0)
  readonly start = 0

  /** @param after the scan begins after this record id, and ends at `until` */
  constructor(window: OplogWindow, layout: Behaviours['oplogEntries'], reverse: boolean, after: number, until: number) {
    this.#window = window
    this.#layout = layout
    this.#after = after
    const from = this.#firstPosition()
    this.#entries = reverse ? window.entriesBackwards(from, until) : window.entries(from, until)
  }

  *[Symbol.iterator](): Generator<StoredRecord, void, void> {
    for (let record = this.next(); record !== null; record = this.next()) yield record
  }

  next(): StoredRecord | null {
    return this.step() ? { recordId: this.recordId, document: this.bytes } : null
  }

  step(): boolean {
    const next = this.#entries.next()
    if (next.done === true) return false
    const [position, entry] = next.value
    this.recordId = position + 1
    this.bytes = shownEntry(entry, this.#layout)
    return true
  }

  /** Of the first entry whose record id is greater than `after`. */
  #firstPosition(): number {
    const position = this.#after - 1
    if (position < this.#window.start) return this.#window.start
    const last = this.#window.entryAt(position)
    return last === undefined ? Math.min(position + 1, this.#window.end) : position + readInt32(last, 0)
  }
}
