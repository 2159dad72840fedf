/**
 * Server: chunk_manager_targeter.cpp and its successors, targetUpdate and targetDelete; manual:
 * reference/method/db.collection.updateOne, sharded collections.
 */
import { BsonType, CommandError, documentValue, DocumentWriter, findField, firstFieldName } from '@shardlab/bson'
import { withCollation, type DeleteStatement, type ModifyStatement, type UpdateStatement } from '@shardlab/member'
import {
  compileFilter,
  equalityValues,
  formatDocument,
  isCollatable,
  type EvaluationContext,
  type Filter,
} from '@shardlab/query'
import {
  isStorable,
  targetFilter,
  targetSoleEquality,
  type Behaviours,
  type CollectionPlacement,
  type Targeting,
} from '@shardlab/sharding'
import { collatedTargeting, hasDefaultCollation } from '../../routing/target-read.js'
import { updateRefusal } from './check-update.js'
import type { StatementTarget } from './statement-target.js'
import { keyTooLarge } from './target-insert.js'

export interface ModifyTargeter {
  readonly placement: CollectionPlacement
  readonly behaviours: Behaviours
  /** With the command's `let`. */
  readonly evaluation: EvaluationContext
  readonly allShards: readonly string[]
}

export interface TargetedFilter {
  /** Compiled on first use: a statement with its shard key is targeted without it. */
  readonly filter: Filter
  readonly targeting: Targeting
  /** Whether equality on `_id` matches at most one document on a shard. */
  readonly isExactId: boolean
}

/**
 * @param document the client's statement, for error texts
 * @throws CommandError for an invalid filter
 */
export function targetModify(
  targeter: ModifyTargeter,
  statement: ModifyStatement,
  document: Uint8Array,
): StatementTarget {
  return statement.kind === 'update'
    ? targetUpdate(targeter, statement, document)
    : targetDelete(targeter, statement, document)
}

function targetUpdate(targeter: ModifyTargeter, update: UpdateStatement, document: Uint8Array): StatementTarget {
  const { placement, behaviours } = targeter
  const { multi, upsert } = update
  const refusal = updateRefusal(update, behaviours)
  if (refusal !== null) return failed(refusal)
  const statement = targetStatement(targeter, update)
  const { targeting } = statement
  const policy = behaviours.updateOneWithoutShardKey
  if (policy === 'exact-id-or-61') return targetByKeyOrId(targeter, update, document, statement)
  if (targeting.exactKey !== null) return toOne(targeting)
  if (upsert && (multi || policy !== 'any'))
    return failed(
      new CommandError('ShardKeyNotFound', 'Failed to target upsert by query :: could not extract exact shard key'),
    )
  if (multi) return toMany(targeter, targeting)
  if (policy === 'any') {
    if (targeting.shards.length === 1 && !upsert) return toOne(targeting)
    return {
      kind: 'first-match',
      shards: targeting.shards,
      search: upsert || !statement.isExactId,
      upsert,
      isBroadcast: targeting.kind === 'broadcast',
      chunks: targeting.chunks,
      bounds: targeting.bounds,
    }
  }
  if (targeting.shards.length === 1) return toOne(targeting)
  const replacement = replacementOf(update, statement)
  if (replacement !== null) return byReplacement(placement, behaviours, replacement)
  if (statement.isExactId) return toMany(targeter, targeting)
  return failed(
    new CommandError(
      'InvalidOptions',
      `A {multi:false} update on a sharded collection must contain an exact match on _id (and have the collection default collation) or target a single shard (and have the simple collation), but this update targeted ${targeting.shards.length} shards. Update request: ${formatDocument(document)}, shard key pattern: ${formatDocument(placement.shardKey.document)}`,
    ),
  )
}

/**
 * Until 4.0: updates with modifiers are targeted by the key in their filter, replacements by their
 * own key regardless of the filter.
 */
function targetByKeyOrId(
  targeter: ModifyTargeter,
  update: UpdateStatement,
  document: Uint8Array,
  statement: TargetedFilter,
): StatementTarget {
  const { placement, behaviours } = targeter
  const { targeting } = statement
  const replacement = replacementOf(update, statement)
  const target =
    replacement !== null
      ? byReplacement(placement, behaviours, replacement)
      : targeting.exactKey !== null
        ? toOne(targeting)
        : null
  if (target?.kind === 'one') {
    const tooLarge = update.upsert ? keyTooLarge(behaviours, target.bounds[0]![0]) : null
    return tooLarge === null ? target : failed(tooLarge)
  }
  const request = `Update request: ${formatDocument(document)}, shard key pattern: ${formatDocument(placement.shardKey.document)}`
  if (update.upsert) {
    const message = `An upsert on a sharded collection must contain the shard key and have the simple collation. ${request}`
    return failed(new CommandError('ShardKeyNotFound', message))
  }
  if (update.multi) return toMany(targeter, targeting)
  if (statement.isExactId) return toMany(targeter, targeting)
  return failed(
    new CommandError(
      'ShardKeyNotFound',
      `A single update on a sharded collection must contain an exact match on _id (and have the collection default collation) or contain the shard key (and have the simple collation). ${request}`,
    ),
  )
}

function targetDelete(targeter: ModifyTargeter, remove: DeleteStatement, document: Uint8Array): StatementTarget {
  const statement = targetStatement(targeter, remove)
  const { targeting } = statement
  if (targeting.exactKey !== null) return toOne(targeting)
  if (remove.multi) return toMany(targeter, targeting)
  const { behaviours } = targeter
  switch (behaviours.updateOneWithoutShardKey) {
    case 'any':
      if (targeting.shards.length === 1) return toOne(targeting)
      return {
        kind: 'first-match',
        shards: targeting.shards,
        search: !statement.isExactId,
        upsert: false,
        isBroadcast: targeting.kind === 'broadcast',
        chunks: targeting.chunks,
        bounds: targeting.bounds,
      }
    default:
      if (behaviours.singleWritesTargetByQuery && targeting.shards.length === 1) return toOne(targeting)
  }
  if (statement.isExactId) return toMany(targeter, targeting)
  return failed(
    new CommandError(
      'ShardKeyNotFound',
      `A single delete on a sharded collection must contain an exact match on _id (and have the collection default collation) or contain the shard key (and have the simple collation). Delete request: ${formatDocument(document)}, shard key pattern: ${formatDocument(targeter.placement.shardKey.document)}`,
    ),
  )
}

/** @throws CommandError for an invalid filter or collation */
export function targetStatement(
  { placement, evaluation }: Pick<ModifyTargeter, 'placement' | 'evaluation'>,
  { filter: document, collation }: Pick<ModifyStatement, 'filter' | 'collation'>,
): TargetedFilter {
  return new TargetedByFilter(
    placement,
    document,
    collation,
    withCollation(evaluation, collation, placement.defaultCollation),
  )
}

class TargetedByFilter implements TargetedFilter {
  readonly targeting: Targeting
  readonly #placement: CollectionPlacement
  readonly #document: Uint8Array
  readonly #collation: Uint8Array | undefined
  readonly #context: EvaluationContext
  #filter: Filter | null = null

  constructor(
    placement: CollectionPlacement,
    document: Uint8Array,
    collation: Uint8Array | undefined,
    context: EvaluationContext,
  ) {
    this.#placement = placement
    this.#document = document
    this.#collation = collation
    this.#context = context
    const options = collatedTargeting(placement, collation)
    this.targeting =
      targetSoleEquality(placement, documentValue(document), options) ?? targetFilter(placement, this.filter, options)
  }

  get filter(): Filter {
    return (this.#filter ??= compileFilter(this.#document, this.#context))
  }

  get isExactId(): boolean {
    const id = equalityValues(this.filter.root, ['_id'])?.get('_id')
    if (id === undefined || !isStorable(id)) return false
    return !isCollatable(id) || hasDefaultCollation(this.#placement, this.#collation)
  }
}

/** Computes its bounds on first use, which is rare. */
class ToOne {
  readonly kind = 'one'
  readonly #targeting: Targeting

  constructor(targeting: Targeting) {
    this.#targeting = targeting
  }

  get shard(): string {
    return this.#targeting.shards[0]!
  }

  get isBroadcast(): boolean {
    return this.#targeting.kind === 'broadcast'
  }

  get chunks(): number {
    return this.#targeting.chunks
  }

  get bounds(): Targeting['bounds'] {
    return this.#targeting.bounds
  }
}

function toOne(targeting: Targeting): StatementTarget {
  return new ToOne(targeting)
}

/**
 * Goes to all shards whatever the placement, so that a part of it never has to be repeated: many
 * documents, or until 7.0 one by its `_id`. A document that moves meanwhile may be missed, and
 * where orphans are written it may be found twice. Server: write_op.cpp, targetWrites; since 8.0
 * featureFlagUpdateOneWithIdWithoutShardKey.
 */
function toMany({ allShards }: ModifyTargeter, targeting: Targeting): StatementTarget {
  if (targeting.shards.length === 1) return toOne(targeting)
  const { shards: owners, chunks, bounds } = targeting
  return { kind: 'all', shards: allShards, owners, isBroadcast: true, chunks, bounds }
}

/** With the filter's `_id`; null: modifiers or a pipeline. */
function replacementOf({ update }: UpdateStatement, statement: Pick<TargetedFilter, 'filter'>): Uint8Array | null {
  if (update.type !== BsonType.object) return null
  const replacement = update.slice()
  if (firstFieldName(replacement)?.startsWith('$') === true) return null
  if (findField(replacement, '_id') !== undefined) return replacement
  const id = equalityValues(statement.filter.root, ['_id'])?.get('_id')
  return id === undefined
    ? replacement
    : new DocumentWriter(replacement.length + 32).value('_id', id).fields(replacement).finish()
}

function byReplacement(
  { shardKey, table }: CollectionPlacement,
  behaviours: Behaviours,
  replacement: Uint8Array,
): StatementTarget {
  const key = shardKey.extract(replacement, { missingIsNull: behaviours.missingShardKeyFieldsAreNull })
  if (typeof key === 'string') {
    return failed(
      new CommandError(
        'ShardKeyNotFound',
        'Failed to target update by replacement document :: could not extract exact shard key',
      ),
    )
  }
  const bound = shardKey.boundDocument(key.values)
  return { kind: 'one', shard: table.shardOf(key.keyString), isBroadcast: false, chunks: 1, bounds: [[bound, bound]] }
}

function failed(error: CommandError): StatementTarget {
  return { kind: 'failed', error }
}
