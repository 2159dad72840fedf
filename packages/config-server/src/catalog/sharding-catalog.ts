/** The sharding catalog: what is placed where, and its changes. Server: sharding_catalog_manager*.cpp. */
import { RequestFailedError, uuidV4, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { CommandError, decode, DocumentWriter, encode, errorDocument, findField, ObjectId, Timestamp } from '@shardlab/bson'
import type { StorageNode } from '@shardlab/node'
import { generationOf, type Behaviours } from '@shardlab/sharding'
import { CatalogStore } from './catalog-store.js'
import {
  changelogDocument,
  chunkDocument,
  collectionDocument,
  databaseDocument,
  mongosDocument,
  type NewCollection,
} from './catalog-documents.js'
import { createCatalog } from './create-catalog.js'

/** Names that clients cannot make databases of. */
const reservedDatabases = ['admin', 'config', 'local']
/** How long a shard may take to tell its size before the choice of a primary goes on without it. */
const dataSizeTimeoutMs = 2_000

export class ShardingCatalog {
  readonly #node: StorageNode
  readonly #store: CatalogStore
  readonly #behaviours: Behaviours
  /** Creations that are under way, by database: a second one waits for the first. */
  readonly #creating = new Map<string, Promise<ReplyOf<'config.create-database'>>>()

  constructor(node: StorageNode) {
    this.#node = node
    this.#behaviours = node.behaviours
    this.#store = new CatalogStore(node)
  }

  async initialise(request: RequestOf<'config.initialise'>): Promise<ReplyOf<'config.initialise'>> {
    createCatalog(this.#node, this.#store, request)
    await this.#node.flush()
    return {}
  }

  getShards(): ReplyOf<'config.get-shards'> {
    return { shards: this.#store.find('config.shards', {}, { _id: 1 }), clusterTime: this.#node.clock.time }
  }

  getDatabase(db: string): Uint8Array | null {
    return this.#store.get('config.databases', db)
  }

  /** One creation of a database at a time; the others get what it made. */
  createDatabase(request: RequestOf<'config.create-database'>): Promise<ReplyOf<'config.create-database'>> {
    // Names that differ only in case must meet here.
    const key = request.db.toLowerCase()
    const running = this.#creating.get(key)
    const creation = (running ?? Promise.resolve())
      .then(() => this.#createDatabase(request))
      .finally(() => {
        if (this.#creating.get(key) === creation) this.#creating.delete(key)
      })
    this.#creating.set(key, creation)
    return creation
  }

  async #createDatabase({
    db,
    primaryShard,
    enableSharding,
  }: RequestOf<'config.create-database'>): Promise<ReplyOf<'config.create-database'>> {
    const existing = this.#store.get('config.databases', db)
    if (existing !== null) {
      if (primaryShard !== null && findField(existing, 'primary')!.asString() !== primaryShard) {
        return failed(new CommandError('NamespaceExists', `database already created on a primary which is different from ${primaryShard}`))
      }
      if (!enableSharding || !this.#markPartitioned(existing)) return { database: existing, error: null }
      await this.#node.flush()
      return { database: this.getDatabase(db), error: null }
    }
    if (reservedDatabases.includes(db))
      return failed(new CommandError('InvalidOptions', `Cannot manually create or shard the '${db}' database`))
    const twin = this.#store
      .find('config.databases', {})
      .map((document) => findField(document, '_id')!.asString())
      .find((name) => name.toLowerCase() === db.toLowerCase())
    if (twin !== undefined)
      return failed(
        new CommandError('DatabaseDifferCase', `can't have 2 databases that just differ on case have: ${twin} want to add: ${db}`),
      )
    const shards = this.#shardIds()
    if (shards.length === 0) return failed(new CommandError('ShardNotFound', 'No shards found'))
    if (primaryShard !== null && !shards.includes(primaryShard))
      return failed(new CommandError('ShardNotFound', `Shard ${primaryShard} not found`))
    const primary = primaryShard ?? (await this.#smallestShard(shards))
    if (primary === null)
      return failed(
        new CommandError(
          'FailedToSatisfyReadPreference',
          `Could not find host matching read preference { mode: "primary" } for set ${shards[0]}`,
        ),
      )
    const document = databaseDocument(this.#behaviours, {
      db,
      primary,
      partitioned: enableSharding,
      uuid: uuidV4(this.#node.context.random),
      timestamp: this.#node.clock.tick(),
    })
    this.#store.put('config.databases', document)
    await this.#node.flush()
    this.#node.context.emit({ type: 'catalog', atMs: this.#node.context.now(), change: 'database-created', ns: db })
    return { database: document, error: null }
  }

  /** The shard with the least data; the first one wins ties. Shards that do not answer are passed over. */
  async #smallestShard(shards: readonly string[]): Promise<string | null> {
    const { context } = this.#node
    const sizes = await context.all(
      shards.map((shard) =>
        context.request(shard, 'shard.data-size', {}, { timeoutMs: dataSizeTimeoutMs }).then(
          ({ sizeBytes }) => sizeBytes,
          (error: unknown) => {
            if (error instanceof RequestFailedError) return Number.POSITIVE_INFINITY
            throw error
          },
        ),
      ),
    )
    const least = Math.min(...sizes)
    return Number.isFinite(least) ? shards[sizes.indexOf(least)]! : null
  }

  getCollection({ ns, since }: RequestOf<'config.get-collection'>): ReplyOf<'config.get-collection'> {
    const collection = this.#store.get('config.collections', ns)
    if (collection === null || findField(collection, 'dropped')?.isTruthy() === true) return { collection: null, chunks: [], full: true }
    const [epoch, seconds, increment] = generationOf(decode(collection))
    const full = since === null || since[0] !== epoch || since[1] !== seconds || since[2] !== increment
    const filter = new DocumentWriter(128)
    this.#writeCollectionKey(filter, collection, ns)
    if (!full) filter.startDocument('lastmod').timestamp('$gt', since[3], since[4]).end()
    return { collection, chunks: this.#store.findRaw('config.chunks', filter.finish(), { lastmod: 1 }), full }
  }

  /** By what config.chunks knows its collection. */
  #writeCollectionKey(writer: DocumentWriter, collection: Uint8Array, ns: string): void {
    if (this.#behaviours.chunksAreKeyedByUuid) writer.value('uuid', findField(collection, 'uuid')!)
    else writer.string('ns', ns)
  }

  async commitCreateCollection(request: RequestOf<'config.commit-create-collection'>): Promise<ReplyOf<'config.commit-create-collection'>> {
    const { ns, uuid, key, unique, defaultCollation, chunks } = request
    const existing = this.#store.get('config.collections', ns)
    if (existing !== null && findField(existing, 'dropped')?.isTruthy() !== true) {
      return { error: errorDocument(new CommandError('AlreadyInitialized', `sharding already enabled for collection ${ns}`)) }
    }
    const timestamp = this.#node.clock.tick()
    const collection: NewCollection = {
      ns,
      uuid,
      key,
      unique,
      defaultCollation,
      epoch: this.#node.newObjectId(),
      timestamp,
      nowMs: this.#node.context.now(),
    }
    // Chunks first: without its collection entry nobody looks at them.
    chunks.forEach((chunk, minor) =>
      this.#store.put('config.chunks', chunkDocument(this.#behaviours, this.#node.newObjectId(), collection, chunk, minor, timestamp)),
    )
    this.#store.put('config.collections', collectionDocument(this.#behaviours, collection))
    const database = this.getDatabase(ns.split('.', 1)[0]!)
    if (database !== null) this.#markPartitioned(database)
    await this.#node.flush()
    this.#node.context.emit({ type: 'catalog', atMs: this.#node.context.now(), change: 'collection-sharded', ns })
    return { error: null }
  }

  /** @returns whether that changed anything; {@link StorageNode.flush} follows then */
  #markPartitioned(database: Uint8Array): boolean {
    if (!this.#behaviours.databasesHavePartitioned || findField(database, 'partitioned')?.isTruthy() === true) return false
    this.#store.put('config.databases', encode({ ...decode(database), partitioned: true }))
    return true
  }

  async commitDropCollection(ns: string): Promise<ReplyOf<'config.commit-drop-collection'>> {
    const collection = this.#store.get('config.collections', ns)
    if (collection === null) return { error: null }
    if (this.#behaviours.droppedCollectionsLeaveEntries)
      this.#store.put('config.collections', encode({ ...decode(collection), dropped: true }))
    else this.#store.remove('config.collections', collection)
    const filter = new DocumentWriter(64)
    this.#writeCollectionKey(filter, collection, ns)
    for (const chunk of this.#store.findRaw('config.chunks', filter.finish())) this.#store.remove('config.chunks', chunk)
    for (const tag of this.#store.find('config.tags', { ns })) this.#store.remove('config.tags', tag)
    await this.#node.flush()
    this.#node.context.emit({ type: 'catalog', atMs: this.#node.context.now(), change: 'collection-dropped', ns })
    return { error: null }
  }

  async commitRenameCollection({
    ns,
    to,
    uuid,
  }: RequestOf<'config.commit-rename-collection'>): Promise<ReplyOf<'config.commit-rename-collection'>> {
    const isIt = (collection: Uint8Array | null) => collection !== null && Buffer.compare(uuidOf(collection), uuid) === 0
    const target = this.#store.get('config.collections', to)
    if (isIt(target)) return { error: null }
    const collection = this.#store.get('config.collections', ns)
    if (collection === null || !isIt(collection))
      return { error: errorDocument(new CommandError('NamespaceNotFound', `Collection ${ns} is not sharded`)) }
    if (target !== null) await this.commitDropCollection(to)
    const epoch = new ObjectId(this.#node.newObjectId())
    const [t, i] = this.#node.clock.tick()
    this.#store.remove('config.collections', collection)
    this.#store.put(
      'config.collections',
      encode({ ...decode(collection), _id: to, lastmodEpoch: epoch, timestamp: new Timestamp({ t, i }) }),
    )
    for (const tag of this.#store.find('config.tags', { ns })) this.#store.put('config.tags', encode({ ...decode(tag), ns: to }))
    await this.#node.flush()
    this.#node.context.emit({ type: 'catalog', atMs: this.#node.context.now(), change: 'collection-renamed', ns: to })
    return { error: null }
  }

  async commitDropCollections(db: string): Promise<ReplyOf<'config.commit-drop-collections'>> {
    for (const collection of this.#store.find('config.collections', {})) {
      const ns = findField(collection, '_id')!.asString()
      if (ns.startsWith(`${db}.`)) await this.commitDropCollection(ns)
    }
    return { error: null }
  }

  async commitDropDatabase(db: string): Promise<ReplyOf<'config.commit-drop-database'>> {
    await this.commitDropCollections(db)
    const database = this.#store.get('config.databases', db)
    if (database !== null) {
      this.#store.remove('config.databases', database)
      await this.#node.flush()
      this.#node.context.emit({ type: 'catalog', atMs: this.#node.context.now(), change: 'database-dropped', ns: db })
    }
    return { error: null }
  }

  async logChange({ what, ns, details, from }: RequestOf<'config.log-change'>): Promise<ReplyOf<'config.log-change'>> {
    const timeMs = this.#node.context.now()
    const shard = from.split(':', 1)[0]!
    const server = from.slice(shard.length + 1)
    const id = `${server}-${new Date(timeMs).toISOString()}-${Buffer.from(this.#node.newObjectId()).toString('hex')}`
    this.#store.put('config.changelog', changelogDocument({ id, server, shard, timeMs, what, ns, details }))
    await this.#node.flush()
    return {}
  }

  async mongosPing({ host, version, createdMs, upSeconds }: RequestOf<'config.mongos-ping'>): Promise<ReplyOf<'config.mongos-ping'>> {
    this.#store.put('config.mongos', mongosDocument(host, version, createdMs, this.#node.context.now(), upSeconds))
    await this.#node.flush()
    return { clusterId: this.clusterId() }
  }

  clusterId(): Uint8Array {
    return findField(this.#store.get('config.version', 1)!, 'clusterId')!.slice()
  }

  async setBalancerMode(mode: string): Promise<ReplyOf<'config.set-balancer-mode'>> {
    const settings = this.#store.get('config.settings', 'balancer')
    const kept = settings === null ? {} : decode(settings)
    this.#store.put('config.settings', encode({ ...kept, _id: 'balancer', mode, stopped: mode !== 'full' }))
    await this.#node.flush()
    return { error: null }
  }

  balancerSettings(): Uint8Array | null {
    return this.#store.get('config.settings', 'balancer')
  }

  /** Has {@link initialise} been done in this life or an earlier one? */
  get isInitialised(): boolean {
    return this.#node.collection('config.version') !== undefined
  }

  #shardIds(): string[] {
    return this.#store.find('config.shards', {}, { _id: 1 }).map((document) => findField(document, '_id')!.asString())
  }
}

function uuidOf(collection: Uint8Array): Uint8Array {
  const value = findField(collection, 'uuid')!
  return value.bytes.subarray(value.start + 5, value.end)
}

function failed(error: CommandError): ReplyOf<'config.create-database'> {
  return { database: null, error: errorDocument(error) }
}
