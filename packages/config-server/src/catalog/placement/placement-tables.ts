import type { PlacementVersionTuple, TimestampPair } from '@shardlab/actor'
import { CommandError, findField, sameBytes } from '@shardlab/bson'
import {
  changedTable,
  isOfGeneration,
  ShardKeyPattern,
  TableUpdate,
  wholeTable,
  type RoutingTable,
} from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import type { CatalogHost, Placements } from '../host.js'

interface KeptTable {
  /** The config.collections document. */
  readonly collection: Uint8Array
  readonly shardKey: ShardKeyPattern
  /** config.chunks. A client may replace it by another collection. */
  readonly source: Collection
  /** The node's clock ticks with each change of the catalog. */
  readonly time: TimestampPair
  readonly table: RoutingTable
}

const tablesMax = 1000

/**
 * A request updates its table with the chunks that config.chunks has gained: every commit is read
 * once, however many members ask. Once a client has written to config.chunks, members must apply
 * the documents themselves.
 */
export class PlacementTables implements Placements {
  readonly #catalog: CatalogHost
  /** In order of last use. */
  readonly #kept = new Map<string, KeptTable>()
  #isEdited = false

  constructor(catalog: CatalogHost) {
    this.#catalog = catalog
  }

  noteEdit(): void {
    this.#isEdited = true
    this.#kept.clear()
  }

  update(ns: string, collection: Uint8Array, since: PlacementVersionTuple | null): TableUpdate | null {
    const source = this.#catalog.node.collection('config.chunks')
    if (this.#isEdited || source === undefined) return null
    try {
      const { table } = this.#newest(ns, collection, source)
      return new TableUpdate(table, since, source.dataSizeBytes / source.count)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      this.#kept.delete(ns)
      return null
    }
  }

  forget(ns: string): void {
    this.#kept.delete(ns)
  }

  /** @throws CommandError 117 ConflictingOperationInProgress: the documents are not a placement */
  #newest(ns: string, collection: Uint8Array, source: Collection): KeptTable {
    const { time } = this.#catalog.node.clock
    const kept = this.#kept.get(ns)
    const known = kept !== undefined && isStillTrue(kept, collection, source) ? kept : null
    if (known !== null && known.time === time && known.collection === collection) return known
    const shardKey = known?.shardKey ?? shardKeyOf(collection)
    const table = known === null ? this.#build(ns, collection, shardKey) : this.#change(ns, collection, known)
    const newest = { collection, shardKey, source, time, table }
    this.#kept.delete(ns)
    this.#kept.set(ns, newest)
    if (this.#kept.size > tablesMax) this.#kept.delete([...this.#kept.keys()][0]!)
    return newest
  }

  #build(ns: string, collection: Uint8Array, shardKey: ShardKeyPattern): RoutingTable {
    const documents = this.#catalog.eachChunkDocument(collection, { fields: ['min'], from: [], to: [] })
    return wholeTable(ns, collection, shardKey, documents)
  }

  #change(ns: string, collection: Uint8Array, { table, shardKey }: KeptTable): RoutingTable {
    return changedTable(ns, table, shardKey, this.#catalog.newerChunkDocuments(collection, table.version))
  }
}

/** True also if the table has an older version. */
function isStillTrue(kept: KeptTable, collection: Uint8Array, source: Collection): boolean {
  if (kept.source !== source) return false
  if (kept.collection === collection) return true
  return isOfGeneration(collection, kept.table.version) && sameBytes(kept.shardKey.document, keyOf(collection))
}

function shardKeyOf(collection: Uint8Array): ShardKeyPattern {
  return ShardKeyPattern.parse(new Uint8Array(keyOf(collection)), { compoundHashed: true })
}

function keyOf(collection: Uint8Array): Uint8Array {
  return findField(collection, 'key')!.slice()
}
