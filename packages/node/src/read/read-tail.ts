/** Server: collection_scan.cpp; manual: core/tailable-cursors. */
import { CommandError } from '@shardlab/bson'
import type { Collection, StoredRecord } from '@shardlab/storage'
import type { OwnershipFilter } from '@shardlab/sharding'
import type { FindQuery, TimeSlice } from '@shardlab/member'
import type { CursorSource } from '../cursors/cursor-manager.js'
import { SourceReads } from '../cursors/source-reads.js'
import type { NodeHost } from '../host/node-host.js'
import { newSlice } from './new-slice.js'

export interface TailOptions {
  readonly host: NodeHost
  readonly collection: Collection
  readonly query: FindQuery
  readonly ownership: OwnershipFilter | null
}

/** Reads the live collection from the record after the last one that it examined. */
export class TailSource implements CursorSource {
  readonly isEOF = false
  readonly reads: SourceReads
  readonly slice: TimeSlice
  readonly #options: TailOptions
  #lastRecordId = -1
  /** Earlier records cannot match. */
  readonly #after: number
  #toSkip: number
  #left: number

  constructor(options: TailOptions) {
    this.#options = options
    this.reads = new SourceReads(options.host, options.collection)
    this.slice = newSlice(options.host)
    this.#after = options.collection.scanBounds?.(options.query.filter.root).after ?? -1
    options.host.statistics.queries.addTailable()
    this.#toSkip = options.query.skip
    this.#left = options.query.limit === 0 ? Number.POSITIVE_INFINITY : options.query.limit
  }

  /**
   * Null at the current end, or if the slice is over.
   * @throws CommandError 136 CappedPositionLost when the collection has removed the record at the
   *   cursor's position
   */
  next(): Uint8Array | null {
    const { host, query, ownership } = this.#options
    const { slice } = this
    if (this.#left === 0 || slice.isOver) return null
    const collection = this.#collection()
    const scan = collection.scan({ after: Math.max(this.#lastRecordId, this.#after) })
    for (let record = scan.next(); record !== null; record = slice.isOver ? null : scan.next()) {
      this.#lastRecordId = record.recordId
      slice.worked()
      host.statistics.queries.scannedObjects++
      if (!query.filter.matches(record.document) || ownership?.owns(record.document) === false) continue
      if (this.#toSkip > 0) {
        this.#toSkip--
        continue
      }
      this.#left--
      return resultOf(query, record)
    }
    return null
  }

  #collection(): Collection {
    this.reads.check()
    const collection = this.#options.host.readable(this.reads.ns)!
    if (this.#lastRecordId >= 0 && collection.get(this.#lastRecordId) === undefined)
      throw new CommandError(
        'CappedPositionLost',
        `CollectionScan died due to failure to restore tailable cursor position. Last seen record id: RecordId(${this.#lastRecordId})`,
      )
    return collection
  }
}

function resultOf({ shape, returnKey }: FindQuery, record: StoredRecord): Uint8Array {
  if (returnKey) return emptyKey
  if (shape.apply !== null) return shape.apply(record)
  return shape.projection === null ? record.document : shape.projection.apply(record.document)
}

/** returnKey on a collection scan gives an empty document. */
const emptyKey = new Uint8Array([5, 0, 0, 0, 0])
