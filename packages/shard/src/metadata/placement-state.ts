/**
 * What a shard knows of databases and collections: who is primary, how each collection is placed. Learned from the config
 * server when a router comes with a version that does not fit, and kept until it is contradicted.
 * Server: CollectionShardingRuntime, DatabaseShardingState; README_versioning_protocols.
 */
import {
  configAddress,
  RequestFailedError,
  type ActorContext,
  type DatabaseVersionTuple,
  type ReplyOf,
  type RequestOf,
  type TimestampPair,
} from '@shardlab/actor'
import { CommandError, decode } from '@shardlab/bson'
import {
  knownVersion,
  PlacementHistories,
  SharedPlacements,
  versionToAskWith,
  type CollectionPlacement,
  type PlacementVersion,
} from '@shardlab/sharding'

export interface DatabasePlacement {
  readonly primary: string
  readonly version: DatabaseVersionTuple
}

/** All that a shard knows of placements. Changed by nobody. */
export interface KnownPlacements {
  readonly collections: ReadonlyMap<string, CollectionPlacement | null>
  readonly databases: ReadonlyMap<string, DatabasePlacement | null>
}

/** Longest wait for the config server before a refresh fails. */
const refreshTimeoutMs = 15_000

export class PlacementState {
  readonly #context: ActorContext
  /** null: known not to be sharded; absent: unknown. */
  readonly #collections = new Map<string, CollectionPlacement | null>()
  readonly #databases = new Map<string, DatabasePlacement | null>()
  /** By what is asked for: the question that is on its way. */
  readonly #collectionRefreshes = new Map<string, Promise<CollectionPlacement | null>>()
  readonly #databaseRefreshes = new Map<string, Promise<DatabasePlacement | null>>()
  readonly #histories = new PlacementHistories()
  readonly #shared: SharedPlacements
  readonly #learned: (ns: string, placement: CollectionPlacement) => void

  /** @param learned called with each placement that comes from the config server */
  constructor(context: ActorContext, learned: (ns: string, placement: CollectionPlacement) => void = () => {}) {
    this.#context = context
    this.#shared = new SharedPlacements(context)
    this.#learned = learned
  }

  /** The collection's placement, null when it is known not to be sharded, undefined when nothing is known. */
  collection(ns: string): CollectionPlacement | null | undefined {
    return this.#collections.get(ns)
  }

  /** By namespace, the version of each sharded collection that is known. */
  collectionVersions(): Record<string, PlacementVersion> {
    const versions: Record<string, PlacementVersion> = {}
    for (const [ns, placement] of this.#collections) {
      const version = knownVersion(placement)
      if (version !== null) versions[ns] = version
    }
    return versions
  }

  /** Every collection of which something is known. */
  collections(): IterableIterator<[ns: string, placement: CollectionPlacement | null]> {
    return this.#collections.entries()
  }

  database(db: string): DatabasePlacement | null | undefined {
    return this.#databases.get(db)
  }

  /** Forgets a collection: the next versioned command asks the config server. */
  forgetCollection(ns: string): void {
    this.#collections.delete(ns)
  }

  forgetDatabase(db: string): void {
    this.#databases.delete(db)
    for (const ns of [...this.#collections.keys()]) if (ns.startsWith(`${db}.`)) this.#collections.delete(ns)
  }

  export(): KnownPlacements {
    return { collections: new Map(this.#collections), databases: new Map(this.#databases) }
  }

  import({ collections, databases }: KnownPlacements): void {
    for (const [ns, placement] of collections) this.#collections.set(ns, placement)
    for (const [db, placement] of databases) this.#databases.set(db, placement)
  }

  /** Asks the config server for what changed. Concurrent calls share one request. */
  refreshCollection(ns: string): Promise<CollectionPlacement | null> {
    return once(this.#collectionRefreshes, ns, () => this.#learnCollection(ns))
  }

  /**
   * A placement with the owners of a past time; undefined: the collection is another by now.
   * @throws CommandError 250 StaleChunkHistory: the catalog does not remember; 133
   */
  async placementAt(placement: CollectionPlacement, time: TimestampPair): Promise<CollectionPlacement | undefined> {
    const { ns } = placement
    const history = await this.#histories.of(placement, () => this.#ask('config.get-collection', { ns, since: null }))
    return history?.at(time)
  }

  refreshDatabase(db: string): Promise<DatabasePlacement | null> {
    return once(this.#databaseRefreshes, db, () => this.#learnDatabase(db))
  }

  async #learnCollection(ns: string): Promise<CollectionPlacement | null> {
    const known = this.#shared.before(ns, this.#collections.get(ns) ?? null)
    const answer = await this.#ask('config.get-collection', { ns, since: versionToAskWith(this.#context, known?.table ?? null) })
    const placement = this.#shared.after(ns, known, answer)
    this.#collections.set(ns, placement)
    if (placement !== null) this.#learned(ns, placement)
    return placement
  }

  async #learnDatabase(db: string): Promise<DatabasePlacement | null> {
    const { database } = await this.#ask('config.get-database', { db })
    const placement = database === null ? null : parseDatabase(database)
    this.#databases.set(db, placement)
    return placement
  }

  async #ask<K extends 'config.get-collection' | 'config.get-database'>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> {
    try {
      return await this.#context.request(configAddress, kind, request, { timeoutMs: refreshTimeoutMs })
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
      throw new CommandError(
        'FailedToSatisfyReadPreference',
        `Could not find host matching read preference { mode: "nearest" } for set ${configAddress}`,
      )
    }
  }
}

function once<T>(running: Map<string, Promise<T>>, key: string, work: () => Promise<T>): Promise<T> {
  let promise = running.get(key)
  if (promise === undefined) running.set(key, (promise = onlyOne(running, key, work)))
  return promise
}

async function onlyOne<T>(running: Map<string, Promise<T>>, key: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    running.delete(key)
  }
}

/** Reads a config.databases document. */
export function parseDatabase(document: Uint8Array): DatabasePlacement {
  const entry = decode(document)
  const version = entry['version'] as { uuid: { buffer: Uint8Array }; timestamp?: { t: number; i: number }; lastMod: number }
  return {
    primary: entry['primary'] as string,
    version: [Buffer.from(version.uuid.buffer).toString('hex'), version.timestamp?.t ?? 0, version.timestamp?.i ?? 0, version.lastMod],
  }
}
