/**
 * Finds a document, computes its unique fields after the change, and writes it if it has not
 * changed in between.
 */
import {
  BSON,
  type ClientSession,
  type Collection,
  type Document,
  type Filter,
  type Sort,
  type UpdateFilter,
  type WithId,
  type WithoutId,
} from 'mongodb'
import type { Changed, Plan } from '../core/writes/change.js'
import { RefusedOperationError } from '../core/errors.js'
import type { Fields } from '../core/port.js'
import type { UniqueProtocol } from '../core/writes/protocol.js'
import type { UniqueSpec } from '../core/specs/spec.js'
import type { TransactionScope } from '../core/world.js'
import { withPortErrors, type AnyCollection, type AnyDocument } from './adapter.js'
import { withDuplicateErrors } from './duplicate-value-error.js'
import { documentAfter, writtenFields } from './updates.js'

export class DocumentChanges<TSchema extends Document> {
  /** With the values of these fields a write is targeted to one shard. */
  shardKey: readonly string[] = []
  readonly #collection: Collection<TSchema>
  readonly #reader: AnyCollection
  readonly #protocol: UniqueProtocol
  readonly #specs: readonly UniqueSpec[]

  /** @param reader reads the same collection from primaries, as plain values */
  constructor(
    collection: Collection<TSchema>,
    reader: AnyCollection,
    protocol: UniqueProtocol,
    specs: readonly UniqueSpec[],
  ) {
    this.#collection = collection
    this.#reader = reader
    this.#protocol = protocol
    this.#specs = specs
  }

  readonly removal = (): Plan => ({ touched: this.#specs, after: null })

  replacementPlan(replacement: WithoutId<TSchema>): (before: Fields) => Plan {
    if (Object.keys(replacement).some((name) => name.startsWith('$'))) {
      throw new RefusedOperationError(
        'a replacement cannot contain update operators: use updateOne or findOneAndUpdate',
      )
    }
    const after = this.stored(replacement)
    return () => ({ touched: this.#specs, after })
  }

  /** Null: the update does not touch unique fields. */
  planOf(update: UpdateFilter<TSchema> | Document[]): ((before: Fields) => Plan) | null {
    const stored = Array.isArray(update) ? (this.stored({ update })['update'] as Fields[]) : this.stored(update)
    const written = writtenFields(this.#specs, stored)
    if (written.touched.length === 0) return null
    return (before) => ({ touched: written.touched, after: documentAfter(before, written) })
  }

  change<R>(
    filter: Filter<TSchema>,
    sort: Sort | undefined,
    plan: (before: Fields) => Plan,
    write: (target: Filter<TSchema>, scope: TransactionScope | null) => Promise<R | null>,
    session: ClientSession | null,
  ): Promise<Changed<R> | null> {
    const order = sort === undefined ? {} : { sort }
    return withDuplicateErrors(() =>
      this.#protocol.change<R>(
        {
          find: (scope) =>
            withPortErrors(() =>
              this.#reader.findOne(filter as Filter<AnyDocument>, { ...order, ...sessionOf(scope) }),
            ) as Promise<Fields | null>,
          plan,
          write: (before, guard, scope) => withPortErrors(() => write(this.#target(filter, before, guard), scope)),
        },
        session,
      ),
    )
  }

  /** Matches the document only as it was read. The shard key targets the write to one shard. */
  #target(filter: Filter<TSchema>, before: Fields, guard: Fields): Filter<TSchema> {
    const key = this.shardKey
      .filter((field) => field !== '_id')
      .map((field) => [field, { $eq: valueAt(before, field) ?? null }] as const)
    return {
      ...Object.fromEntries(key),
      _id: { $eq: before['_id'] },
      $and: [guard, filter],
    } as unknown as Filter<TSchema>
  }

  async found(
    changed: Changed<WithId<TSchema>> | null,
    { returnDocument }: { returnDocument?: 'before' | 'after' },
  ): Promise<WithId<TSchema> | null> {
    if (changed === null) return null
    if (changed.result !== null) return changed.result
    if (returnDocument !== 'after') return changed.before as WithId<TSchema>
    return this.#collection.findOne({ _id: changed.before['_id'] } as Filter<TSchema>)
  }

  refuseMany(update: UpdateFilter<TSchema> | Document[]): void {
    if (this.planOf(update) === null) return
    throw new RefusedOperationError(
      'updateMany of a unique field is not allowed, because the documents that it writes are unknown before the write: use updateOne for each document',
    )
  }

  /** As the server stores it: undefined as null or left out, classes converted by toBSON. */
  stored(document: Fields): Fields {
    const { ignoreUndefined = false } = this.#collection.bsonOptions
    return BSON.deserialize(BSON.serialize(document, { ignoreUndefined }), { promoteBuffers: false })
  }
}

export const sessionOf = (scope: TransactionScope | null): { session?: ClientSession } =>
  scope === null ? {} : { session: scope.session as ClientSession }

const valueAt = (document: Fields, path: string): unknown =>
  path.split('.').reduce<unknown>((value, part) => (value as Fields | null | undefined)?.[part], document)
