/**
 * Entries are read from the config server on demand and incrementally, and used until a shard
 * reports them as stale. Server: catalog_cache.cpp.
 */
import { configAddress, type ActorContext, type RequestOf } from '@shardlab/actor'
import { applyPlacementReply } from '@shardlab/member'
import {
  knownVersion,
  PlacementHistories,
  type CollectionPlacement,
  type PlacementHistory,
  type PlacementVersion,
} from '@shardlab/sharding'
import type { Operation } from '../dispatch/operation.js'
import type { MongosLimits } from '../options.js'
import { raise } from '../remote/command-reply.js'
import type { Remote } from '../remote/remote.js'
import { withDeadline } from '../remote/with-deadline.js'
import { parseDatabase, type DatabaseEntry } from './database-entry.js'
import { RefreshStatistics } from './refresh-statistics.js'
import { RefreshingMap, type KnownValues } from './refreshing-map.js'

export interface KnownRoutes {
  readonly databases: KnownValues<DatabaseEntry | null>
  readonly collections: KnownValues<CollectionPlacement | null>
}

export class CatalogCache {
  readonly #context: ActorContext
  readonly #remote: Remote
  readonly #reach: ActorContext['reach']
  readonly #databases: RefreshingMap<DatabaseEntry | null>
  readonly #collections: RefreshingMap<CollectionPlacement | null>
  readonly #histories = new PlacementHistories()
  /** For serverStatus: how often a shard reported stale routing. */
  staleConfigCount = 0
  readonly refreshes = new RefreshStatistics()

  /**
   * @param reach {@link ActorContext.reach}; throws a client's error where a fault makes the step
   *   fail
   */
  constructor(context: ActorContext, remote: Remote, limits: MongosLimits, reach: ActorContext['reach']) {
    this.#context = context
    this.#reach = reach
    this.#remote = remote
    const onLimit = (limit: string, value: number) => () =>
      context.emit({ type: 'limit', atMs: context.now(), member: context.address, limit, value })
    this.#databases = new RefreshingMap({
      // A database that did not exist is always fetched again: no member could report that entry as
      // stale.
      fetch: (name, known) => this.#unlessFrozen(known ?? undefined, () => this.#fetchDatabase(name)),
      entriesMax: limits.cachedDatabasesMax,
      onLimit: onLimit('cachedDatabasesMax', limits.cachedDatabasesMax),
    })
    this.#collections = new RefreshingMap({
      fetch: (ns, known) => this.#unlessFrozen(known, () => this.#fetchCollection(ns, known ?? null)),
      entriesMax: limits.cachedCollectionsMax,
      onLimit: onLimit('cachedCollectionsMax', limits.cachedCollectionsMax),
    })
  }

  /** Keeps stale placements in use, for `faults.switch`. */
  frozen = false

  learned: (placement: CollectionPlacement) => void = () => {}

  get databaseCount(): number {
    return this.#databases.size
  }

  get collectionCount(): number {
    return this.#collections.size
  }

  collectionVersions(): Record<string, PlacementVersion> {
    const versions: Record<string, PlacementVersion> = {}
    for (const ns of this.#collections.names()) {
      const version = knownVersion(this.peekCollection(ns) ?? null)
      if (version !== null) versions[ns] = version
    }
    return versions
  }

  peekDatabase(name: string): DatabaseEntry | undefined {
    return this.#databases.peek(name) ?? undefined
  }

  /**
   * Null: the database does not exist; this is fetched again each time.
   * @throws CommandError 133, 6, 50
   */
  async database(name: string, operation: Operation | null): Promise<DatabaseEntry | null> {
    const known = this.#databases.peek(name)
    if (known === null) this.#databases.markStale(name, null)
    return withDeadline(this.#context, operation, this.#databases.get(name))
  }

  /**
   * Does nothing if the database exists.
   * @throws CommandError of the config server; 133, 6, 50
   */
  createDatabase(
    name: string,
    operation: Operation | null,
    primaryShard: string | null = null,
  ): Promise<DatabaseEntry> {
    return this.#createDatabase({ db: name, primaryShard, enableSharding: false }, operation)
  }

  /**
   * Creates the database if it does not exist.
   * @param primaryShard null: the config server chooses
   */
  enableSharding(name: string, primaryShard: string | null, operation: Operation | null): Promise<DatabaseEntry> {
    return this.#createDatabase({ db: name, primaryShard, enableSharding: true }, operation)
  }

  async #createDatabase(
    request: RequestOf<'config.create-database'>,
    operation: Operation | null,
  ): Promise<DatabaseEntry> {
    const { database, error } = await this.#remote.request(configAddress, 'config.create-database', request, operation)
    raise(error)
    const entry = parseDatabase(database!)
    this.#databases.set(request.db, entry)
    return entry
  }

  /** Null: unsharded or nonexistent. Undefined: not cached. */
  peekCollection(ns: string): CollectionPlacement | null | undefined {
    return this.#collections.peek(ns)
  }

  /** @throws CommandError 133, 6, 50 */
  collection(ns: string, operation: Operation | null): Promise<CollectionPlacement | null> {
    return withDeadline(this.#context, operation, this.#collections.get(ns))
  }

  /**
   * Null: the collection was dropped or recreated.
   * @throws CommandError 133, 6, 50
   */
  history(placement: CollectionPlacement, operation: Operation | null): Promise<PlacementHistory | null> {
    const { ns } = placement
    const ask = () => this.#remote.request(configAddress, 'config.get-chunks', { ns, since: null, limit: null }, null)
    return withDeadline(this.#context, operation, this.#histories.of(placement, ask))
  }

  markDatabaseStale(name: string, used: DatabaseEntry | null): void {
    this.#databases.markStale(name, used)
  }

  markCollectionStale(ns: string, used: CollectionPlacement | null | undefined): void {
    this.#collections.markStale(ns, used)
  }

  forgetCollection(ns: string): void {
    this.#collections.forget(ns)
  }

  forgetDatabase(name: string): void {
    this.#databases.forget(name)
    const prefix = `${name}.`
    for (const ns of this.#collections.names()) if (ns.startsWith(prefix)) this.#collections.forget(ns)
  }

  export(): KnownRoutes {
    return { databases: this.#databases.export(), collections: this.#collections.export() }
  }

  import({ databases, collections }: KnownRoutes): void {
    this.#databases.import(databases)
    this.#collections.import(collections)
  }

  forgetAll(): void {
    this.#databases.forgetAll()
    this.#collections.forgetAll()
  }

  #unlessFrozen<T>(known: NoInfer<T> | undefined, refresh: () => Promise<T>): Promise<T> {
    return this.frozen && known !== undefined ? Promise.resolve(known) : refresh()
  }

  async #fetchDatabase(name: string): Promise<DatabaseEntry | null> {
    const { database } = await this.#remote.request(configAddress, 'config.get-database', { db: name }, null)
    return database === null ? null : parseDatabase(database)
  }

  async #fetchCollection(ns: string, known: CollectionPlacement | null): Promise<CollectionPlacement | null> {
    await this.#reach('mongos.catalog.before-refresh', { ns })
    return this.refreshes.count(
      known !== null,
      () => this.#context.now(),
      async () => {
        const since = knownVersion(known)
        const reply = await this.#remote.request(configAddress, 'config.get-collection', { ns, since }, null)
        const placement = applyPlacementReply(ns, known, reply)
        if (placement !== null && placement !== known) this.learned(placement)
        return placement
      },
    )
  }
}
