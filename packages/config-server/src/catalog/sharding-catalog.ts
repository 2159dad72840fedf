import type { CatalogEvent, PlacementVersionTuple, ReplyOf } from '@shardlab/actor'
import { boolValue, DocumentWriter, findField, int32Value, type RawValue } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import type { Behaviours } from '@shardlab/sharding'
import { CatalogStore } from './store/catalog-store.js'
import { withFields } from './store/document-changes.js'
import { parseStoredChunk, type StoredChunk } from './chunks/chunk-documents.js'
import type { IndexRange } from './store/index-scan.js'
import type { ConfigHost, MovingChunk, NewestVersion, Sampler } from './host.js'
import { PlacementTables } from './placement/placement-tables.js'
import { ReshardingOperations } from './resharding/reshardings.js'

export class ShardingCatalog implements ConfigHost {
  readonly node: NodeHost
  readonly store: CatalogStore
  readonly behaviours: Behaviours
  readonly reshardings: ReshardingOperations
  readonly placements: PlacementTables = new PlacementTables(this)
  readonly databasesInCreation = new Map<string, Promise<ReplyOf<'config.create-database'>>>()
  readonly samplers = new Map<string, Sampler>()
  newestVersion: NewestVersion | null = null
  parameterChanges: Promise<void> = Promise.resolve()
  readonly moving = new Map<string, MovingChunk>()

  constructor(node: NodeHost) {
    this.node = node
    this.behaviours = node.behaviours
    this.store = new CatalogStore(node)
    this.reshardings = new ReshardingOperations(this)
  }

  /** True also if `config.initialise` was handled before a restart. */
  get isInitialised(): boolean {
    return this.node.collection('config.version') !== undefined
  }

  database(db: string): Uint8Array | null {
    return this.store.get('config.databases', db)
  }

  collection(ns: string): Uint8Array | null {
    const document = this.store.get('config.collections', ns)
    return document === null || findField(document, 'dropped')?.isTruthy() === true ? null : document
  }

  collections(): Uint8Array[] {
    return this.store
      .all('config.collections')
      .filter((document) => findField(document, 'dropped')?.isTruthy() !== true)
  }

  shardIds(): string[] {
    return this.store.all('config.shards').map((document) => findField(document, '_id')!.asString())
  }

  chunkDocuments(collection: Uint8Array, range: IndexRange): Uint8Array[] {
    return this.store.inIndex('config.chunks', this.#chunkRange(collection, range))
  }

  newerChunkDocuments(
    collection: Uint8Array,
    since: PlacementVersionTuple | null,
    limit: number | null = null,
  ): Uint8Array[] {
    const from: RawValue[] = since === null ? [] : [lastmodOf(since)]
    const range = { fields: ['lastmod'], from, fromIncluded: since === null, to: [] }
    return this.store.inIndex('config.chunks', this.#chunkRange(collection, range), limit)
  }

  eachChunkDocument(collection: Uint8Array, range: IndexRange): Iterable<Uint8Array> {
    return this.store.each('config.chunks', this.#chunkRange(collection, range))
  }

  firstChunkDocument(collection: Uint8Array, range: IndexRange): Uint8Array | null {
    return this.store.firstInIndex('config.chunks', this.#chunkRange(collection, range))
  }

  storedChunks(
    collection: Uint8Array,
    range: IndexRange,
    isWanted: (document: Uint8Array) => boolean = all,
  ): () => StoredChunk | null {
    const found = this.store.cursor('config.chunks', this.#chunkRange(collection, range))
    return () => {
      for (let document = found(); document !== null; document = found()) {
        const chunk = isWanted(document) ? parseStoredChunk(document) : null
        if (chunk !== null) return chunk
      }
      return null
    }
  }

  #chunkRange(
    collection: Uint8Array,
    { fields, from, fromIncluded = true, to, toIncluded = true, reverse = false }: IndexRange,
  ): IndexRange {
    const isByUuid = this.behaviours.chunksAreKeyedByUuid
    const owner = findField(collection, isByUuid ? 'uuid' : '_id')!
    const low = [owner, ...from]
    const bounds = {
      from: low,
      fromIncluded,
      to: from.length === 0 && to.length === 0 ? low : [owner, ...to],
      toIncluded,
    }
    return { fields: [isByUuid ? 'uuid' : 'ns', ...fields], ...bounds, reverse }
  }

  zonesOf(ns: string): Uint8Array[] {
    const name = [this.store.nameValue(ns)]
    return this.store.inIndex('config.tags', { fields: ['ns', 'min'], from: name, to: name })
  }

  chunks(collection: Uint8Array): Uint8Array[] {
    return this.chunkDocuments(collection, { fields: ['min'], from: [], to: [] })
  }

  markPartitioned(database: Uint8Array): boolean {
    if (
      this.behaviours.databasesHavePartitioned !== 'as enabled' ||
      findField(database, 'partitioned')?.isTruthy() === true
    )
      return false
    this.store.put('config.databases', withFields(database, { partitioned: boolValue(true) }))
    return true
  }

  clusterId(): Uint8Array {
    return findField(this.store.getById('config.version', int32Value(1))!, 'clusterId')!.slice()
  }

  emitChange(change: CatalogChange, ns: string): void {
    const { context } = this.node
    context.emit({ type: 'catalog', atMs: context.now(), change, ns })
  }
}

const all = (): boolean => true

type CatalogChange = CatalogEvent['change']

function lastmodOf([, , , major, minor]: PlacementVersionTuple): RawValue {
  return findField(new DocumentWriter(32).timestamp('lastmod', major, minor).finish(), 'lastmod')!
}
