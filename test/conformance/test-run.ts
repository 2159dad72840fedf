/** Runs one test of a file: its data, its entities, its operations, and its expectations. */
import {
  AbstractCursor,
  ChangeStream,
  ClientSession,
  Collection,
  Db,
  GridFSBucket,
  MongoClient,
  MongoCompatibilityError,
  type Document,
} from 'mongodb'
import { Entities, type ClusterAddress } from './entities.js'
import { matchError } from './expected-errors.js'
import { matchNested, matchRoot, Mismatch, show } from './matching.js'
import type { Method } from './operations/arguments.js'
import { clientMethods } from './operations/client.js'
import { collectionMethods } from './operations/collection.js'
import { bucketMethods, cursorMethods, sessionMethods } from './operations/cursor.js'
import { databaseMethods, dropIfPresent } from './operations/database.js'
import { runnerMethods } from './operations/runner.js'
import { operationsOf } from './requirements.js'
import type { CollectionData, Operation, SpecFile, SpecTest } from './spec-files.js'

/** A test that takes longer than this has hung. */
const testLimitMs = 30_000

const majority = { writeConcern: { w: 'majority' } } as const

/**
 * Runs one test.
 * @throws {@link Mismatch} when an expectation fails, or any unexpected error
 */
export async function runTest(
  file: SpecFile,
  test: SpecTest,
  address: ClusterAddress,
  internal: MongoClient,
): Promise<void> {
  const run = new TestRun(address, internal)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the test did not end within ${testLimitMs / 1000} s, in ${run.at}`)),
      testLimitMs,
    )
  })
  try {
    await Promise.race([run.all(file, test), late])
  } finally {
    clearTimeout(timer)
    await run.end()
  }
}

const transactional = ['startTransaction', 'withTransaction']

class TestRun {
  /** The current step, for the message of a test that hangs. */
  at = 'its beginning'
  readonly #address: ClusterAddress
  readonly #internal: MongoClient
  readonly #entities: Entities
  #hasTransactions = false
  readonly #failPoints: { client: MongoClient; name: string; close: boolean }[] = []

  constructor(address: ClusterAddress, internal: MongoClient) {
    this.#address = address
    this.#internal = internal
    this.#entities = new Entities(address)
  }

  async all(file: SpecFile, test: SpecTest): Promise<void> {
    this.at = 'its initial data'
    const names = new Set(operationsOf(test.operations).map(({ name }) => name))
    if (file.initialData === undefined) await this.#dropCollections(file.createEntities ?? [])
    const filling = await this.#startFilling()
    for (const each of file.initialData ?? []) await this.#fill(each, filling)
    // Otherwise a snapshot through another router may be older than the data.
    this.#entities.clusterTime = filling?.clusterTime
    if (filling !== undefined && JSON.stringify(file.createEntities ?? []).includes('"snapshot"'))
      await this.#tellEveryRouter(filling)
    await filling?.endSession()
    this.#hasTransactions = transactional.some((name) => names.has(name))
    if (this.#hasTransactions && names.has('distinct')) await this.#touchOnEveryRouter(file)
    this.at = 'making its entities'
    for (const each of file.createEntities ?? []) await this.#entities.create(each)
    for (const [i, operation] of test.operations.entries()) {
      this.at = `operation ${i}, ${operation.name}`
      await this.#run(operation).catch((error: unknown) => {
        throw new Error(`operation ${i}, ${operation.name}: ${error instanceof Error ? error.message : show(error)}`, {
          cause: error,
        })
      })
    }
    this.at = 'its events'
    for (const { client, eventType = 'command', ignoreExtraEvents = false, events } of test.expectEvents ?? [])
      this.#entities.observer(client).checkEvents(events, eventType, ignoreExtraEvents, this.#entities)
    for (const {
      client,
      messages,
      ignoreExtraMessages: ignoreExtra = false,
      ignoreMessages: ignored = [],
    } of test.expectLogMessages ?? [])
      this.#entities.observer(client).checkLogs(messages, { ignoreExtra, ignored }, this.#entities)
    this.at = 'its outcome'
    for (const each of test.outcome ?? []) await this.#checkOutcome(each)
  }

  async end(): Promise<void> {
    for (const { client, name, close } of this.#failPoints) {
      await client
        .db('admin')
        .command({ configureFailPoint: name, mode: 'off' })
        .catch(() => {})
      if (close) await client.close()
    }
    await this.#entities.close()
    // Transactions that a failed test leaves open would block the next one.
    if (this.#hasTransactions) await this.#internal.db('admin').command({ killAllSessions: [] }).catch(ignored)
  }

  /** Undefined: the version has no sessions. */
  async #startFilling(): Promise<ClientSession | undefined> {
    const session = this.#internal.startSession({ causalConsistency: false })
    try {
      await this.#internal.db('admin').command({ ping: 1 }, { session })
      return session
    } catch (error) {
      await session.endSession()
      if (error instanceof MongoCompatibilityError) return undefined
      throw error
    }
  }

  async #fill(
    { databaseName, collectionName, documents, createOptions }: CollectionData,
    session: ClientSession | undefined,
  ): Promise<void> {
    const db = this.#internal.db(databaseName)
    const inSession = session === undefined ? {} : { session }
    await dropIfPresent(db, collectionName, majority)
    if (createOptions !== undefined || documents.length === 0)
      await db.createCollection(collectionName, { ...createOptions, ...majority, ...inSession })
    if (documents.length > 0)
      await db.collection(collectionName, majority).insertMany(
        documents.map((each) => ({ ...each })),
        inSession,
      )
  }

  /** The result of a file without initial data must not depend on the files before it. */
  async #dropCollections(entities: readonly Document[]): Promise<void> {
    const databases = new Map<string, string>()
    for (const { database, collection } of entities) {
      if (database !== undefined) databases.set(database['id'], database['databaseName'])
      const name = collection === undefined ? 'admin' : databases.get(collection['database'])
      // Routers refuse to drop collections of admin.
      if (name !== 'admin') await dropIfPresent(this.#internal.db(name), collection['collectionName'], majority)
    }
  }

  /** Implicit sessions do not know the time of the initial data. */
  async #tellEveryRouter({ clusterTime }: ClientSession): Promise<void> {
    if (clusterTime === undefined) return
    for (const host of this.#address.hosts) {
      await using client = new MongoClient(`mongodb://${this.#address.user}${host}/?${this.#address.options}`)
      await client.withSession(async (session) => {
        session.advanceClusterTime(clusterTime)
        await client.db('admin').command({ ping: 1 }, { session })
      })
    }
  }

  /**
   * A router that has not cached a collection may answer the first `distinct` in a transaction with
   * StaleDbVersion.
   */
  async #touchOnEveryRouter(file: SpecFile): Promise<void> {
    for (const host of this.#address.hosts) {
      await using client = new MongoClient(`mongodb://${this.#address.user}${host}/?${this.#address.options}`)
      for (const { databaseName, collectionName } of file.initialData ?? [])
        await client.db(databaseName).collection(collectionName).distinct('_id')
    }
  }

  async #checkOutcome({ databaseName, collectionName, documents }: CollectionData): Promise<void> {
    const collection = this.#internal
      .db(databaseName)
      .collection(collectionName, { readPreference: 'primary', readConcern: { level: 'local' } })
    const actual = await collection.find({}, { sort: { _id: 1 } }).toArray()
    matchNested(actual, documents, this.#entities, `outcome of ${collectionName}`)
  }

  async #run(operation: Operation): Promise<void> {
    const { expectError, expectResult, ignoreResultAndError, saveResultAsEntity } = operation
    let result: unknown
    try {
      result = await this.#perform(operation)
    } catch (error) {
      if (ignoreResultAndError === true) return
      if (expectError === undefined || operation.object === 'testRunner') throw error
      return matchError(error, expectError, this.#entities)
    }
    if (ignoreResultAndError === true) return
    if (expectError !== undefined) throw new Mismatch('the operation', { error: expectError }, result)
    if (expectResult !== undefined) matchRoot(result, expectResult, this.#entities, 'result')
    if (saveResultAsEntity !== undefined) this.#entities.set(saveResultAsEntity, result)
  }

  async #perform({ name, object, arguments: args = {} }: Operation): Promise<unknown> {
    if (object === 'testRunner') {
      const method = runnerMethods[name]
      if (method === undefined) throw new Error(`the runner does not know its operation ${name}`)
      return method(args, {
        entities: this.#entities,
        internal: this.#internal,
        run: (operation) => this.#run(operation),
        setFailPoint: (target, failPoint) => this.#setFailPoint(target, failPoint),
      })
    }
    const target = this.#entities.entity(object)
    if (target instanceof ClientSession && name === 'withTransaction') return this.#withTransaction(target, args)
    const method = methodsOf(target)[name]
    if (method === undefined) throw new Error(`the runner does not know the operation ${name} of ${object}`)
    return method(target as never, args, { entities: this.#entities })
  }

  #withTransaction(session: ClientSession, { callback, ...options }: Document): Promise<unknown> {
    return session.withTransaction(async () => {
      for (const operation of callback as Operation[]) await this.#run(operation)
    }, options)
  }

  async #setFailPoint(target: MongoClient | string, failPoint: Document): Promise<void> {
    const client =
      typeof target === 'string'
        ? new MongoClient(`mongodb://${this.#address.user}${target}/?${this.#address.options}`)
        : target
    this.#failPoints.push({ client, name: failPoint['configureFailPoint'], close: typeof target === 'string' })
    await client.db('admin').command(failPoint, { readPreference: 'primary' })
  }
}

function methodsOf(target: unknown): Readonly<Record<string, Method<never>>> {
  if (target instanceof MongoClient) return clientMethods as Record<string, Method<never>>
  if (target instanceof Db) return databaseMethods as Record<string, Method<never>>
  if (target instanceof Collection) return collectionMethods as Record<string, Method<never>>
  if (target instanceof ClientSession) return sessionMethods as Record<string, Method<never>>
  if (target instanceof AbstractCursor || target instanceof ChangeStream)
    return cursorMethods as Record<string, Method<never>>
  if (target instanceof GridFSBucket) return bucketMethods as Record<string, Method<never>>
  return {}
}

function ignored(): void {}
