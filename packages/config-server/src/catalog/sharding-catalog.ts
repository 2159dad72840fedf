/** What the handlers of the config server work on, and the tables that they stand in. */
import type { CatalogEvent, MessageKind, ReplyOf, RequestOf } from '@shardlab/actor'
import { decode, DocumentWriter, encode, findField } from '@shardlab/bson'
import type { StorageNode } from '@shardlab/node'
import type { Behaviours } from '@shardlab/sharding'
import { CatalogStore } from './catalog-store.js'
import type { Sampler } from './query-analyzers.js'
import { ReshardingOperations } from './resharding/reshardings.js'

/** Requests that the config server answers. */
export type ConfigKind = Extract<MessageKind, `config.${string}`>

/** One handler for each kind. What a handler reads and writes before its first `await` happens at once: no other request sees a part of it. */
export type ConfigHandlers<K extends ConfigKind = ConfigKind> = {
  readonly [Kind in K]: (catalog: ShardingCatalog, request: RequestOf<Kind>) => Promise<ReplyOf<Kind>> | ReplyOf<Kind>
}

export class ShardingCatalog {
  readonly node: StorageNode
  readonly store: CatalogStore
  readonly behaviours: Behaviours
  readonly reshardings: ReshardingOperations
  /** Creations of databases that are under way: a second one waits for the first. */
  readonly databasesInCreation = new Map<string, Promise<ReplyOf<'config.create-database'>>>()
  /** Members that sample queries, by name. */
  readonly samplers = new Map<string, Sampler>()

  constructor(node: StorageNode) {
    this.node = node
    this.behaviours = node.behaviours
    this.store = new CatalogStore(node)
    this.reshardings = new ReshardingOperations(this)
  }

  /** Has `config.initialise` been done in this life or an earlier one? */
  get isInitialised(): boolean {
    return this.node.collection('config.version') !== undefined
  }

  /** The config.databases document. */
  database(db: string): Uint8Array | null {
    return this.store.get('config.databases', db)
  }

  /** The config.collections document of a collection that is there. */
  collection(ns: string): Uint8Array | null {
    const document = this.store.get('config.collections', ns)
    return document === null || findField(document, 'dropped')?.isTruthy() === true ? null : document
  }

  /** The config.collections documents of all collections that are there, those that are not sharded among them, ordered by namespace. */
  collections(): Uint8Array[] {
    return this.store.find('config.collections', { dropped: { $ne: true } }, { _id: 1 })
  }

  shardIds(): string[] {
    return this.store.find('config.shards', {}, { _id: 1 }).map((document) => findField(document, '_id')!.asString())
  }

  /** By what config.chunks knows its collection. */
  writeCollectionKey(writer: DocumentWriter, collection: Uint8Array, ns: string): void {
    if (this.behaviours.chunksAreKeyedByUuid) writer.value('uuid', findField(collection, 'uuid')!)
    else writer.string('ns', ns)
  }

  /** The documents of a collection's chunks, in key order. */
  chunks(collection: Uint8Array): Uint8Array[] {
    const filter = new DocumentWriter(64)
    this.writeCollectionKey(filter, collection, findField(collection, '_id')!.asString())
    return this.store.findRaw('config.chunks', filter.finish(), { min: 1 })
  }

  /**
   * Notes that collections of a database may be sharded, where the emulated version keeps such a mark.
   * @returns whether that changed anything; {@link StorageNode.flush} follows then
   */
  markPartitioned(database: Uint8Array): boolean {
    if (this.behaviours.databasesHavePartitioned !== 'as enabled' || findField(database, 'partitioned')?.isTruthy() === true) return false
    this.store.put('config.databases', encode({ ...decode(database), partitioned: true }))
    return true
  }

  clusterId(): Uint8Array {
    return findField(this.store.get('config.version', 1)!, 'clusterId')!.slice()
  }

  emitChange(change: CatalogChange, ns: string): void {
    const { context } = this.node
    context.emit({ type: 'catalog', atMs: context.now(), change, ns })
  }
}

type CatalogChange = CatalogEvent['change']
