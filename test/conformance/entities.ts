/**
 * The objects that a test names: clients, databases, collections, sessions, buckets, cursors,
 * threads, and saved results.
 */
import {
  AbstractCursor,
  ChangeStream,
  ClientSession,
  Collection,
  Db,
  GridFSBucket,
  MongoClient,
  ReadConcern,
  ReadPreference,
  WriteConcern,
  type ClusterTime,
  type Document,
} from 'mongodb'
import { Observer } from './events.js'
import type { MatchContext } from './matching.js'

/** A thread of a test: operations that run in order, concurrently with the test's own. */
export class Thread {
  #running: Promise<void> = Promise.resolve()

  /** Runs `work` after all earlier work. */
  run(work: () => Promise<void>): void {
    this.#running = this.#running.then(work)
    // Callers of `finished` get the rejection.
    this.#running.catch(() => {})
  }

  /** Resolves when all work is done; rejects with the first failure. */
  finished(): Promise<void> {
    return this.#running
  }
}

/** The cluster's address: its routers, the user of tests, and the options of its URI. */
export interface ClusterAddress {
  /** `name:password@`, or empty. */
  readonly user: string
  readonly hosts: readonly string[]
  /** The text after the `?`, possibly empty. */
  readonly options: string
}

/**
 * Parses `mongodb://user:password@a:1,b:2/?x=y`.
 * @throws Error when it is not such a URI
 */
export function parseAddress(uri: string): ClusterAddress {
  const parts = /^mongodb:\/\/([^@/]*@)?([^/?]+)(?:\/[^?]*)?(?:\?(.*))?$/.exec(uri)
  if (parts === null) throw new Error(`${JSON.stringify(uri)} is no mongodb:// URI`)
  return { user: parts[1] ?? '', hosts: parts[2]!.split(','), options: parts[3] ?? '' }
}

export class Entities implements MatchContext {
  readonly #values = new Map<string, unknown>()
  readonly #observers = new Map<string, Observer>()
  readonly #address: ClusterAddress
  /** That of the initial data, for sessions; undefined: the version has none. */
  clusterTime: ClusterTime | undefined

  constructor(address: ClusterAddress) {
    this.#address = address
  }

  /** Creates one element of `createEntities`. */
  async create(element: Document): Promise<void> {
    const [kind, description] = Object.entries(element)[0] as [string, Document]
    this.set(description['id'], await this.#make(kind, description))
  }

  /** @throws Error when the name is taken */
  set(id: string, value: unknown): void {
    if (this.#values.has(id)) throw new Error(`there is an entity ${id} already`)
    this.#values.set(id, value)
  }

  readonly entity = (id: string): unknown => {
    if (!this.#values.has(id)) throw new Error(`there is no entity ${id}`)
    return this.#values.get(id)
  }

  readonly lsid = (id: string): unknown => this.get(id, ClientSession).id

  /** @throws Error when the entity of that name has another type */
  get<T>(id: string, type: abstract new (...args: any[]) => T): T {
    const value = this.entity(id)
    if (!(value instanceof type)) throw new Error(`the entity ${id} is no ${type.name}`)
    return value
  }

  observer(clientId: string): Observer {
    const observer = this.#observers.get(clientId)
    if (observer === undefined) throw new Error(`there is no client ${clientId}`)
    return observer
  }

  /**
   * Closes cursors, then sessions, then clients. Failures to close do not
   * fail the test.
   */
  async close(): Promise<void> {
    const all = [...this.#values.values()]
    const quietly = (work: Promise<unknown>) => work.catch(() => {})
    for (const each of all)
      if (each instanceof AbstractCursor || each instanceof ChangeStream) await quietly(each.close())
    for (const each of all) if (each instanceof ClientSession) await quietly(each.endSession())
    for (const each of all) if (each instanceof MongoClient) await quietly(each.close())
  }

  async #make(kind: string, description: Document): Promise<unknown> {
    switch (kind) {
      case 'client':
        return this.#makeClient(description)
      case 'database':
        return this.get(description['client'], MongoClient).db(
          description['databaseName'],
          concerns(description['databaseOptions']),
        )
      case 'collection':
        return this.get(description['database'], Db).collection(
          description['collectionName'],
          concerns(description['collectionOptions']),
        )
      case 'session': {
        const { defaultTransactionOptions, ...options } = (description['sessionOptions'] ?? {}) as Document
        const session = this.get(description['client'], MongoClient).startSession({
          ...options,
          ...(defaultTransactionOptions === undefined
            ? {}
            : { defaultTransactionOptions: concerns(defaultTransactionOptions) }),
        })
        if (this.clusterTime !== undefined) session.advanceClusterTime(this.clusterTime)
        return session
      }
      case 'bucket':
        return new GridFSBucket(this.get(description['database'], Db), concerns(description['bucketOptions']))
      case 'thread':
        return new Thread()
      default:
        throw new Error(`the runner does not know entities of kind ${kind}`)
    }
  }

  async #makeClient(description: Document): Promise<MongoClient> {
    const observer = new Observer(description)
    const severities = description['observeLogMessages'] as Record<string, string> | undefined
    const options: Document = {
      monitorCommands: true,
      serverSelectionTimeoutMS: 10_000,
      ...(severities === undefined ? {} : observer.logOptions(severities)),
      ...(description['serverApi'] === undefined ? {} : { serverApi: description['serverApi'] }),
    }
    const client = new MongoClient(this.#uri(description), options)
    observer.observe(client, (description['observeEvents'] as string[] | undefined) ?? [])
    this.#observers.set(description['id'], observer)
    await client.connect()
    return client
  }

  #uri(description: Document): string {
    const hosts = description['useMultipleMongoses'] === true ? this.#address.hosts : this.#address.hosts.slice(0, 1)
    const query = new URLSearchParams(this.#address.options)
    for (const [name, value] of Object.entries((description['uriOptions'] as Document | undefined) ?? {})) {
      if (name === 'readPreferenceTags') for (const tags of value) query.append(name, String(tags))
      else query.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value))
    }
    return `mongodb://${this.#address.user}${hosts.join(',')}/?${query.toString()}`
  }
}

/** Concerns and the read preference as options of the driver. */
export function concerns(options: Document | undefined): Document {
  const { readConcern, readPreference, writeConcern, maxCommitTimeMS, ...rest } = options ?? {}
  return {
    ...rest,
    ...(readConcern === undefined ? {} : { readConcern: ReadConcern.fromOptions(readConcern) ?? readConcern }),
    ...(readPreference === undefined ? {} : { readPreference: readPreferenceOf(readPreference) }),
    ...(writeConcern === undefined
      ? {}
      : { writeConcern: WriteConcern.fromOptions(writeConcern as WriteConcern) ?? writeConcern }),
    ...(maxCommitTimeMS === undefined ? {} : { maxCommitTimeMS }),
  }
}

function readPreferenceOf({ mode, tagSets, ...options }: Document): ReadPreference {
  return new ReadPreference(mode, tagSets, options)
}

/** The same collection with other options. */
export function withOptions(collection: Collection, client: MongoClient, options: Document): Collection {
  return client.db(collection.dbName).collection(collection.collectionName, options)
}
