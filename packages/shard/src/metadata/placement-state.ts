/**
 * Placements that this shard has cached: refreshed from the config server when a router has another
 * version, and kept until then.
 * Server: CollectionShardingRuntime, DatabaseShardingState; README_versioning_protocols.
 */
import {
  requestFailure,
  hostNotFound,
  configAddress,
  RequestFailedError,
  type ActorContext,
  type ReplyOf,
  type TimestampPair,
} from '@shardlab/actor'
import { findField } from '@shardlab/bson'
import { applyPlacementReply } from '@shardlab/member'
import {
  knownVersion,
  parseDatabaseVersion,
  PlacementHistories,
  type CollectionPlacement,
  type PlacementVersion,
} from '@shardlab/sharding'
import { repeatedRequest } from '../common/repeated-request.js'
import type { DatabasePlacement, Placements } from '../host/host.js'

export interface KnownPlacements {
  readonly collections: ReadonlyMap<string, CollectionPlacement | null>
  readonly databases: ReadonlyMap<string, DatabasePlacement | null>
}

const requestOptions = { timeoutMs: 15_000, attemptsMax: 4 }

interface Refresh {
  /** Forgotten during the refresh: its reply may be older than the change that caused this. */
  forgotten: boolean
}

interface CollectionEntry extends Refresh {
  readonly ns: string
  placement: CollectionPlacement | null | undefined
  refreshing: Promise<CollectionPlacement | null> | null
}

interface DatabaseRefresh extends Refresh {
  readonly placement: Promise<DatabasePlacement | null>
}

/** How the replies of the config server become placements. */
interface PlacementSource<Reply, Placement> {
  /** The whole placement. */
  readonly ask: () => Promise<Reply>
  /** @param known the placement that the reply may build upon */
  readonly read: (reply: Reply, known: Placement | null) => Placement | null
}

/**
 * Awaited between the reply of the config server about a collection or database and the use of it.
 * @param isKnown this member has the same placement already
 * @throws CommandError why this member must not use it
 */
export type PlacementConfirmation = (name: string, isKnown: boolean) => Promise<void>

export class PlacementState implements Placements {
  readonly #context: ActorContext
  readonly #collections = new Map<string, CollectionEntry>()
  /** The last one used: most calls are for the same collection as the call before. */
  #latest: CollectionEntry | null = null
  readonly #databases = new Map<string, DatabasePlacement | null>()
  readonly #databaseRefreshes = new Map<string, DatabaseRefresh>()
  readonly #histories = new PlacementHistories()
  readonly #learned: (ns: string, placement: CollectionPlacement) => void
  readonly #confirm: PlacementConfirmation

  /** @param learned called with each placement from the config server */
  constructor(
    context: ActorContext,
    learned: (ns: string, placement: CollectionPlacement) => void = () => {},
    confirm: PlacementConfirmation = () => Promise.resolve(),
  ) {
    this.#context = context
    this.#learned = learned
    this.#confirm = confirm
  }

  collection(ns: string): CollectionPlacement | null | undefined {
    return this.#known(ns)?.placement
  }

  /** By namespace; unsharded collections are omitted. */
  collectionVersions(): Record<string, PlacementVersion> {
    const versions: Record<string, PlacementVersion> = {}
    for (const [ns, placement] of this.collections()) {
      const version = knownVersion(placement)
      if (version !== null) versions[ns] = version
    }
    return versions
  }

  *collections(): IterableIterator<[ns: string, placement: CollectionPlacement | null]> {
    for (const [ns, { placement }] of this.#collections) if (placement !== undefined) yield [ns, placement]
  }

  database(db: string): DatabasePlacement | null | undefined {
    return this.#databases.get(db)
  }

  forgetCollection(ns: string): void {
    const entry = this.#known(ns)
    if (entry === undefined) return
    entry.placement = undefined
    if (entry.refreshing === null) this.#drop(entry)
    else entry.forgotten = true
  }

  forgetDatabase(db: string): void {
    this.#databases.delete(db)
    const refresh = this.#databaseRefreshes.get(db)
    if (refresh !== undefined) refresh.forgotten = true
    for (const ns of [...this.#collections.keys()]) if (ns.startsWith(`${db}.`)) this.forgetCollection(ns)
  }

  forgetAll(): void {
    for (const ns of [...this.#collections.keys()]) this.forgetCollection(ns)
    for (const db of [...this.#databases.keys(), ...this.#databaseRefreshes.keys()]) this.forgetDatabase(db)
  }

  export(): KnownPlacements {
    return { collections: new Map(this.collections()), databases: new Map(this.#databases) }
  }

  import({ collections, databases }: KnownPlacements): void {
    for (const [ns, placement] of collections) this.#entry(ns).placement = placement
    for (const [db, placement] of databases) this.#databases.set(db, placement)
  }

  refreshCollection(ns: string): Promise<CollectionPlacement | null> {
    const entry = this.#entry(ns)
    if (entry.refreshing !== null) return entry.refreshing
    const known = entry.placement ?? null
    const since = knownVersion(known)
    // Send first: the refresh must not end before `refreshing` is set.
    const asked = this.#askCollection(ns, since)
    return (entry.refreshing = this.#learnCollection(entry, known, asked))
  }

  /** By a request that is sent after this call. @throws CommandError 133 */
  async refreshCollectionAnew(ns: string): Promise<CollectionPlacement | null> {
    await this.#known(ns)?.refreshing?.catch(ignore)
    return this.refreshCollection(ns)
  }

  /** As {@link refreshCollectionAnew}. */
  async refreshDatabaseAnew(db: string): Promise<DatabasePlacement | null> {
    await this.#databaseRefreshes.get(db)?.placement.catch(ignore)
    return this.refreshDatabase(db)
  }

  /**
   * A placement with the owners of a past time; undefined: the collection was dropped or recreated.
   * @throws CommandError 250 StaleChunkHistory: the catalog has no history of that time; 133
   */
  async placementAt(placement: CollectionPlacement, time: TimestampPair): Promise<CollectionPlacement | undefined> {
    const { ns } = placement
    const history = await this.#histories.of(placement, () => this.#askHistory(ns))
    return history?.at(time)
  }

  refreshDatabase(db: string): Promise<DatabasePlacement | null> {
    const running = this.#databaseRefreshes.get(db)
    if (running !== undefined) return running.placement
    const placement = this.#learnDatabase(db, this.#askDatabase(db))
    this.#databaseRefreshes.set(db, { placement, forgotten: false })
    return placement
  }

  #known(ns: string): CollectionEntry | undefined {
    if (this.#latest?.ns === ns) return this.#latest
    const entry = this.#collections.get(ns)
    if (entry !== undefined) this.#latest = entry
    return entry
  }

  #entry(ns: string): CollectionEntry {
    let entry = this.#known(ns)
    if (entry === undefined)
      this.#collections.set(ns, (entry = { ns, placement: undefined, refreshing: null, forgotten: false }))
    return entry
  }

  #drop(entry: CollectionEntry): void {
    this.#collections.delete(entry.ns)
    if (this.#latest === entry) this.#latest = null
  }

  async #learnCollection(
    entry: CollectionEntry,
    known: CollectionPlacement | null,
    asked: Promise<ReplyOf<'config.get-collection'>>,
  ): Promise<CollectionPlacement | null> {
    const { ns } = entry
    try {
      const placement = await this.#confirmed(ns, entry, known, await asked, {
        ask: () => this.#askCollection(ns, null),
        read: (reply, since) => applyPlacementReply(ns, since, reply),
      })
      entry.placement = placement
      if (placement !== null) this.#learned(ns, placement)
      return placement
    } catch (error) {
      throw unanswered(error)
    } finally {
      entry.refreshing = null
      entry.forgotten = false
      if (entry.placement === undefined) this.#drop(entry)
    }
  }

  async #learnDatabase(db: string, asked: Promise<ReplyOf<'config.get-database'>>): Promise<DatabasePlacement | null> {
    try {
      const first = await asked
      const placement = await this.#confirmed(db, this.#databaseRefreshes.get(db)!, null, first, {
        ask: () => this.#askDatabase(db),
        read: ({ database }) => (database === null ? null : parseDatabase(database)),
      })
      this.#databases.set(db, placement)
      return placement
    } catch (error) {
      throw unanswered(error)
    } finally {
      this.#databaseRefreshes.delete(db)
    }
  }

  /** Replies whose placement was forgotten are not confirmed: the config server is asked again. */
  async #confirmed<Reply, Placement>(
    name: string,
    refresh: Refresh,
    known: Placement | null,
    first: Reply,
    { ask, read }: PlacementSource<Reply, Placement>,
  ): Promise<Placement | null> {
    let since = known
    for (let reply = first; ; reply = await ask()) {
      if (!refresh.forgotten) {
        const placement = read(reply, since)
        await this.#confirm(name, placement !== null && placement === since)
        if (!refresh.forgotten) return placement
      }
      refresh.forgotten = false
      since = null
    }
  }

  #askCollection(ns: string, since: PlacementVersion | null): Promise<ReplyOf<'config.get-collection'>> {
    return repeatedRequest(this.#context, configAddress, 'config.get-collection', { ns, since }, requestOptions)
  }

  #askDatabase(db: string): Promise<ReplyOf<'config.get-database'>> {
    return repeatedRequest(this.#context, configAddress, 'config.get-database', { db }, requestOptions)
  }

  async #askHistory(ns: string): Promise<ReplyOf<'config.get-chunks'>> {
    try {
      return await repeatedRequest(
        this.#context,
        configAddress,
        'config.get-chunks',
        { ns, since: null, limit: null },
        requestOptions,
      )
    } catch (error) {
      throw unanswered(error)
    }
  }
}

function ignore(): void {}

function unanswered(error: unknown): unknown {
  if (!(error instanceof RequestFailedError)) return error
  return error.undelivered ? hostNotFound(configAddress, 'nearest') : requestFailure(error)
}

/** @param document of config.databases */
export function parseDatabase(document: Uint8Array): DatabasePlacement {
  return { primary: findField(document, 'primary')!.asString(), version: parseDatabaseVersion(document) }
}
