import { EventEmitter } from 'eventemitter3'
import {
  type AnyBulkWriteOperation,
  type BulkWriteOptions,
  type Collection,
  type Db,
  type DeleteOptions,
  type DeleteResult,
  type Document,
  type Filter,
  type FindOneAndDeleteOptions,
  type FindOneAndReplaceOptions,
  type FindOneAndUpdateOptions,
  type InsertManyResult,
  type InsertOneOptions,
  type InsertOneResult,
  type OptionalUnlessRequiredId,
  type ReplaceOptions,
  type Sort,
  type UpdateFilter,
  type UpdateOptions,
  type UpdateResult,
  type WithId,
  type WithoutId,
} from 'mongodb'
import { NotInitializedError } from '../core/errors.js'
import { Maintenance } from '../core/maintenance.js'
import type { BackfillReport, OnProgress, RepairReport, Standing, SweepReport, VerifyReport } from '../core/reports.js'
import type { Fields } from '../core/port.js'
import { UniqueProtocol } from '../core/writes/protocol.js'
import type { UniqueEvent, UniqueEventName, World } from '../core/world.js'
import { withPortErrors, type AnyCollection, type AnyDocument } from './adapter.js'
import { driverWorld } from './driver-world.js'
import { checkMain, prepareProxy } from './init.js'
import { parseOptions, type ParsedOptions, type UniqueOptions } from './options.js'
import { bulkStep } from './bulk-step.js'
import { withDuplicateErrors } from './duplicate-value-error.js'
import { checkSameBson, databaseOf, newId } from './handles.js'
import { DocumentChanges, sessionOf } from './document-changes.js'
import { callerTransaction, checkChange, checkWrite, refuseUnacknowledged, type AnyOptions } from './refusals.js'
import { deleted, inBulk, updated, type UniqueBulkWriteResult } from './results.js'
import { withoutTransactionsBecause } from './transactions.js'

export type UniqueCounters = Readonly<Record<UniqueEventName, number>>

export interface WritePath {
  /** `reservation`: a write makes reservations, writes the document, and confirms them. */
  readonly kind: 'transaction' | 'reservation'
  readonly reason: string
}

/** Call `init()` before the first write. @throws RefusedOperationError for invalid options */
export function uniqueCollection<TSchema extends Document = Document>(
  collection: Collection<TSchema>,
  options: UniqueOptions,
): UniqueCollection<TSchema> {
  return new UniqueCollection(collection, options)
}

export class UniqueCollection<TSchema extends Document = Document> extends EventEmitter<
  Record<UniqueEventName, [UniqueEvent]>
> {
  /** For reading: writes to it bypass the reservations. */
  readonly collection: Collection<TSchema>
  readonly #db: Db
  readonly #options: ParsedOptions
  readonly #reader: AnyCollection
  readonly #world: World
  readonly #protocol: UniqueProtocol
  readonly #changes: DocumentChanges<TSchema>
  readonly #maintenance: Maintenance
  readonly #counters: Record<UniqueEventName, number> = {
    reserved: 0,
    confirmed: 0,
    released: 0,
    compensated: 0,
    conflict: 0,
    swept: 0,
    unsettled: 0,
  }
  #initialized = false

  constructor(collection: Collection<TSchema>, options: UniqueOptions) {
    super()
    this.collection = collection
    this.#db = databaseOf(collection)
    this.#options = parseOptions(collection.collectionName, options)
    refuseUnacknowledged(collection.writeConcern)
    const { reader, world } = driverWorld(this.#db, collection.collectionName, this.#options, (event) => {
      this.#counters[event.event]++
      this.emit(event.event, event)
    })
    this.#reader = reader
    this.#world = world
    this.#protocol = new UniqueProtocol(this.#world)
    this.#changes = new DocumentChanges(collection, this.#reader, this.#protocol, this.#options.specs)
    this.#maintenance = new Maintenance(this.#world, this.#protocol)
  }

  get counters(): UniqueCounters {
    return { ...this.#counters }
  }

  /** How writes run, and why, after `init()`. A server that refuses transactions changes it. */
  get writePath(): WritePath {
    const refused = this.#options.transactions
      ? this.#protocol.transactionsRefused
      : "the option transactions is 'never'"
    return refused === null
      ? { kind: 'transaction', reason: 'the deployment has transactions' }
      : { kind: 'reservation', reason: refused }
  }

  /**
   * Creates missing proxy collections, sharded on a sharded cluster, and checks existing ones. With
   * existing documents, `backfill()` comes next.
   * @param make false: creates nothing; a missing collection is an error
   * @throws MisconfiguredProxyError
   */
  async init({ make = true }: { readonly make?: boolean } = {}): Promise<this> {
    const db = this.#db
    const hello = await db.admin().command({ hello: 1 })
    const onCluster = hello['msg'] === 'isdbgrid'
    const refused = withoutTransactionsBecause(hello)
    if (refused !== null) this.#protocol.refuseTransactions(refused)
    checkSameBson(this.collection)
    this.#changes.shardKey = await checkMain(db, this.collection.collectionName, onCluster)
    for (const plan of this.#options.proxies) await prepareProxy(db, plan, onCluster, make)
    await (make ? this.#maintenance.begin() : this.#maintenance.check())
    this.#initialized = true
    return this
  }

  /**
   * A document without `_id` gets an ObjectId. @throws DuplicateValueError, and the other errors of
   * the README
   */
  async insertOne(
    document: OptionalUnlessRequiredId<TSchema>,
    options: InsertOneOptions = {},
  ): Promise<InsertOneResult<TSchema>> {
    this.#check(options)
    // As in the driver, the caller's document gets the _id.
    const withId = document as Fields
    withId['_id'] ??= newId(this.collection)
    await withDuplicateErrors(() =>
      this.#protocol.insert(
        this.#changes.stored(withId),
        (scope) => withPortErrors(() => this.collection.insertOne(document, { ...options, ...sessionOf(scope) })),
        callerTransaction(options),
      ),
    )
    return { acknowledged: true, insertedId: withId['_id'] as InsertOneResult<TSchema>['insertedId'] }
  }

  /** One after the other; with `ordered: false` several at a time. @throws UniqueBulkWriteError */
  async insertMany(
    documents: readonly OptionalUnlessRequiredId<TSchema>[],
    options: BulkWriteOptions = {},
  ): Promise<InsertManyResult<TSchema>> {
    this.#check(options)
    const { insertedCount, insertedIds } = await this.bulkWrite(
      documents.map((document) => ({ insertOne: { document } }) as AnyBulkWriteOperation<TSchema>),
      options,
    )
    return { acknowledged: true, insertedCount, insertedIds: insertedIds as InsertManyResult<TSchema>['insertedIds'] }
  }

  /** @throws RefusedOperationError if the result for a unique field is unknown before the write */
  async updateOne(
    filter: Filter<TSchema>,
    update: UpdateFilter<TSchema> | Document[],
    options: UpdateOptions & { sort?: Sort } = {},
  ): Promise<UpdateResult<TSchema>> {
    this.#checkChange(options)
    const plan = this.#changes.planOf(update)
    if (plan === null) return this.collection.updateOne(filter, update, options)
    const { sort, ...rest } = options
    const changed = await this.#changes.change(
      filter,
      sort,
      plan,
      (target, scope) =>
        this.collection
          .updateOne(target, update, { ...rest, ...sessionOf(scope) })
          .then((result) => (result.matchedCount > 0 ? result : null)),
      callerTransaction(options),
    )
    return changed === null ? updated(0) : (changed.result ?? updated(1))
  }

  /** For fields that are not unique only. @throws RefusedOperationError */
  async updateMany(
    filter: Filter<TSchema>,
    update: UpdateFilter<TSchema> | Document[],
    options: UpdateOptions = {},
  ): Promise<UpdateResult<TSchema>> {
    this.#checkChange(options)
    this.#changes.refuseMany(update)
    return this.collection.updateMany(filter, update, options)
  }

  async replaceOne(
    filter: Filter<TSchema>,
    replacement: WithoutId<TSchema>,
    options: ReplaceOptions = {},
  ): Promise<UpdateResult<TSchema>> {
    this.#checkChange(options)
    const { sort, ...rest } = options as ReplaceOptions & { sort?: unknown }
    const changed = await this.#changes.change(
      filter,
      sort,
      this.#changes.replacementPlan(replacement),
      (target, scope) =>
        this.collection
          .replaceOne(target, replacement, { ...rest, ...sessionOf(scope) })
          .then((result) => (result.matchedCount > 0 ? result : null)),
      callerTransaction(options),
    )
    return changed === null ? updated(0) : (changed.result ?? updated(1))
  }

  async findOneAndUpdate(
    filter: Filter<TSchema>,
    update: UpdateFilter<TSchema> | Document[],
    options: FindOneAndUpdateOptions = {},
  ): Promise<WithId<TSchema> | null> {
    this.#checkChange(options)
    const plan = this.#changes.planOf(update)
    const plain = { ...options, includeResultMetadata: false } as const
    if (plan === null) return this.collection.findOneAndUpdate(filter, update, plain)
    const { sort, ...rest } = plain
    const changed = await this.#changes.change(
      filter,
      sort,
      plan,
      (target, scope) =>
        this.collection.findOneAndUpdate(target, update as UpdateFilter<TSchema>, { ...rest, ...sessionOf(scope) }),
      callerTransaction(options),
    )
    return this.#changes.found(changed, options)
  }

  async findOneAndReplace(
    filter: Filter<TSchema>,
    replacement: WithoutId<TSchema>,
    options: FindOneAndReplaceOptions = {},
  ): Promise<WithId<TSchema> | null> {
    this.#checkChange(options)
    const { sort, ...rest } = { ...options, includeResultMetadata: false } as const
    const changed = await this.#changes.change(
      filter,
      sort,
      this.#changes.replacementPlan(replacement),
      (target, scope) => this.collection.findOneAndReplace(target, replacement, { ...rest, ...sessionOf(scope) }),
      callerTransaction(options),
    )
    return this.#changes.found(changed, options)
  }

  async findOneAndDelete(
    filter: Filter<TSchema>,
    options: FindOneAndDeleteOptions = {},
  ): Promise<WithId<TSchema> | null> {
    this.#checkChange(options)
    const { sort, ...rest } = { ...options, includeResultMetadata: false } as const
    const changed = await this.#changes.change(
      filter,
      sort,
      this.#changes.removal,
      (target, scope) => this.collection.findOneAndDelete(target, { ...rest, ...sessionOf(scope) }),
      callerTransaction(options),
    )
    return changed === null ? null : (changed.result ?? (changed.before as WithId<TSchema>))
  }

  async deleteOne(filter: Filter<TSchema>, options: DeleteOptions = {}): Promise<DeleteResult> {
    this.#checkChange(options)
    const changed = await this.#changes.change(
      filter,
      undefined,
      this.#changes.removal,
      (target, scope) =>
        this.collection
          .deleteOne(target, { ...options, ...sessionOf(scope) })
          .then((result) => (result.deletedCount > 0 ? result : null)),
      callerTransaction(options),
    )
    return deleted(changed === null ? 0 : 1)
  }

  /** Deletes one document after the other. A document that no longer matches is kept. */
  async deleteMany(filter: Filter<TSchema> = {}, options: DeleteOptions = {}): Promise<DeleteResult> {
    this.#checkChange(options)
    let count = 0
    const session = callerTransaction(options)
    const found = { projection: { _id: 1 }, ...(session === null ? {} : { session }) }
    for await (const { _id } of this.#reader.find(filter as Filter<AnyDocument>, found)) {
      count += (await this.deleteOne({ $and: [filter, { _id: { $eq: _id } }] } as Filter<TSchema>, options))
        .deletedCount
    }
    return deleted(count)
  }

  /**
   * Runs each operation separately, in order unless `ordered: false`, after checking all of them.
   * In a transaction of the caller they run in order.
   * @throws UniqueBulkWriteError; the driver's error with the label `TransientTransactionError` if
   * the caller has to run the transaction again
   */
  async bulkWrite(
    operations: readonly AnyBulkWriteOperation<TSchema>[],
    options: BulkWriteOptions = {},
  ): Promise<UniqueBulkWriteResult> {
    this.#check(options)
    const { ordered = true, ...rest } = options
    return inBulk(
      operations.map((operation) => bulkStep(this, this.#changes, operation, rest, (each) => this.#checkChange(each))),
      ordered,
      callerTransaction(options) !== null,
    )
  }

  /**
   * Whether a backfill is complete. Until then, writes also search the collection for their values.
   */
  async status(): Promise<Standing> {
    this.#mustBeInitialized()
    return this.#maintenance.status()
  }

  /** Reserves the values of existing documents. May be repeated, also during writes. */
  async backfill(onProgress?: OnProgress): Promise<BackfillReport> {
    this.#mustBeInitialized()
    return this.#maintenance.backfill(onProgress)
  }

  /** Compares documents and reservations; changes nothing. */
  async verify(onProgress?: OnProgress): Promise<VerifyReport> {
    this.#mustBeInitialized()
    return this.#maintenance.verify(onProgress)
  }

  /** Verifies, and repairs what needs no decision of the user. */
  async repair(onProgress?: OnProgress): Promise<RepairReport> {
    this.#mustBeInitialized()
    return this.#maintenance.repair(onProgress)
  }

  /** Decides the expired reservations. */
  async sweep(onProgress?: OnProgress): Promise<SweepReport> {
    this.#mustBeInitialized()
    return this.#maintenance.sweep(onProgress)
  }

  #mustBeInitialized(): void {
    if (!this.#initialized) throw new NotInitializedError()
  }

  #check(options: AnyOptions): void {
    this.#mustBeInitialized()
    checkWrite(options, this.#options.transactions)
  }

  #checkChange(options: AnyOptions): void {
    this.#mustBeInitialized()
    checkChange(options, this.#options.transactions)
  }
}
