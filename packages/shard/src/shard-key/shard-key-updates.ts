/**
 * Manual: core/sharding-change-shard-key-value.
 * Server: update_stage.cpp, upsert_stage.cpp, document_shard_key_update_util.cpp.
 */
import {
  BsonType,
  CommandError,
  compareValues,
  DocumentWriter,
  findField,
  firstFieldName,
  type RawValue,
} from '@shardlab/bson'
import type { UpdateStatement } from '@shardlab/member'
import type { Access, NodeInvocation } from '@shardlab/node'
import { compileFilter, equalityValues, formatDocument, formatValue } from '@shardlab/query'
import type { Behaviours, CollectionPlacement, ExtractedKey, ShardKeyPattern } from '@shardlab/sharding'
import type { CollectionPlacements } from '../host/host.js'

export interface ShardKeyRules {
  readonly behaviours: Behaviours
  readonly identity: { readonly shardId: string }
  readonly placements: Pick<CollectionPlacements, 'collection'>
}

export interface ReplacedDocument {
  readonly before: Uint8Array
  readonly after: Uint8Array
  readonly statement: UpdateStatement
}

/**
 * @throws CommandError 66 ImmutableField where values are immutable, and for direct connections; 54
 *   NotSingleValueField for arrays; 31025 without the full shard key in the filter; 72
 *   InvalidOptions for multi updates; 20 IllegalOperation for a write that is not retryable; 283
 *   WouldChangeOwningShard, with both documents, when the document has to move
 */
export function checkShardKeyUpdate(
  rules: ShardKeyRules,
  access: Access,
  change: ReplacedDocument,
  invocation: NodeInvocation,
): void {
  const { behaviours, identity } = rules
  const { before, after, statement } = change
  const placement = placementFor(rules, access, invocation)
  if (placement === null) return
  const { shardKey, table } = placement
  if (shardKey.isSameIn(before, after)) return
  const old = shardKey.extract(before)
  const next = shardKey.extract(after, { missingIsNull: behaviours.missingShardKeyFieldsAreNull })
  if (typeof old !== 'string' && typeof next !== 'string' && isSameKey(behaviours, shardKey, old, next)) return
  if (behaviours.shardKeyValuesAreImmutable || access.ownership === null) throw immutable(shardKey, change)
  if (next === 'array') throw isArray(shardKey, after)
  if (next === 'missing') throw immutable(shardKey, change)
  checkStatement(behaviours, shardKey, statement, invocation)
  if (table.shardOf(next.keyString) === identity.shardId) return
  recordStatement(placement, invocation)
  throw wouldChangeOwningShard(placement, before, after, 'This update would cause the doc to change owning shards')
}

/**
 * @throws CommandError 66 ImmutableField where values are immutable and the document's differs from
 *   the filter's; 54 for arrays; 20 and 283 when the document belongs to another shard
 */
export function checkShardKeyOfUpsert(
  { behaviours, identity }: ShardKeyRules,
  { ownership }: Access,
  document: Uint8Array,
  invocation: NodeInvocation,
  statement: UpdateStatement,
): void {
  if (ownership === null) return
  const { placement } = ownership
  const { shardKey, table } = placement
  const key = shardKey.extract(document)
  if (behaviours.shardKeyValuesAreImmutable) {
    const { root } = compileFilter(statement.filter, invocation.host.evaluation())
    for (const path of shardKey.paths) {
      const wanted = equalityValues(root, [path])?.get(path)
      if (wanted !== undefined && !isSameValue(wanted, valueAt(document, path)))
        throw immutableAt(path, {
          before: new DocumentWriter(64).value(path, wanted).finish(),
          after: document,
          statement,
        })
    }
  }
  if (key === 'array') throw isArray(shardKey, document)
  if (key === 'missing' || table.shardOf(key.keyString) === identity.shardId) return
  if (invocation.retryable === null && invocation.transaction === undefined) {
    throw new CommandError(
      'IllegalOperation',
      'The upsert document could not be inserted onto the shard targeted by the query, since its shard key belongs on a different shard. Cross-shard upserts are only allowed when running in a transaction or with retryWrites: true.',
    )
  }
  recordStatement(placement, invocation)
  throw wouldChangeOwningShard(placement, null, document, 'The document we are inserting belongs on a different shard')
}

/**
 * The router moves the document in the same internal transaction, so the repeated statement must
 * find that it was executed. Server: kWouldChangeOwningShardSentinel.
 */
function recordStatement({ ns, uuid }: CollectionPlacement, { host, retryable, transaction }: NodeInvocation): void {
  if (retryable === null || transaction === undefined) return
  const { session, txnNumber } = retryable
  const object = new DocumentWriter(64).int32('$wouldChangeOwningShard', 1).finish()
  const statement = { lsid: session.document, txnNumber, stmtIds: [retryable.stmtId(0)] }
  host.apply({ op: 'n', ns, uuid, object, id: null, session: statement })
}

/** The placement of a routed command, or for a client's command the one known to this shard. */
function placementFor(
  { placements }: ShardKeyRules,
  { ownership }: Access,
  { routed, args, db }: NodeInvocation,
): CollectionPlacement | null {
  if (ownership !== null) return ownership.placement
  if (routed !== null || args.has('ops')) return null
  return placements.collection(`${db}.${args.collectionName(db)}`) ?? null
}

/**
 * Requirements of every change of the value, even if the document stays.
 * @throws CommandError 31025, 72, 20
 */
function checkStatement(
  behaviours: Behaviours,
  shardKey: ShardKeyPattern,
  statement: UpdateStatement,
  invocation: NodeInvocation,
): void {
  const checkMulti = () => {
    if (statement.multi)
      throw new CommandError(
        'InvalidOptions',
        'Multi-update operations are not allowed when updating the shard key field.',
      )
  }
  if (behaviours.multiShardKeyUpdatesAreRefusedFirst) checkMulti()
  if (behaviours.shardKeyUpdatesNeedFullKey && !hasFullKey(shardKey, statement, invocation))
    throw new CommandError(31025, 'Shard key update is not allowed without specifying the full shard key in the query')
  checkMulti()
  if (invocation.retryable === null && invocation.transaction === undefined)
    throw new CommandError(
      'IllegalOperation',
      'Must run update to shard key field in a multi-statement transaction or with retryWrites: true.',
    )
}

function hasFullKey({ paths }: ShardKeyPattern, { filter }: UpdateStatement, { host }: NodeInvocation): boolean {
  return equalityValues(compileFilter(filter, host.evaluation()).root, paths) !== null
}

function isSameKey(
  { shardKeyChangesAreBinary }: Behaviours,
  shardKey: ShardKeyPattern,
  a: ExtractedKey,
  b: ExtractedKey,
): boolean {
  if (a.keyString !== b.keyString) return false
  return (
    !shardKeyChangesAreBinary ||
    Buffer.compare(shardKey.boundDocument(a.values), shardKey.boundDocument(b.values)) === 0
  )
}

/** With `{ preImage, postImage, shouldUpsert, ns, uuid }`: the router requests the move with it. */
function wouldChangeOwningShard(
  { ns, uuid }: CollectionPlacement,
  before: Uint8Array | null,
  after: Uint8Array,
  message: string,
): CommandError {
  const writer = new DocumentWriter((before?.length ?? 0) + after.length + 256)
  if (before !== null) writer.document('preImage', before)
  writer
    .document('postImage', after)
    .bool('shouldUpsert', before === null)
    .string('ns', ns)
    .uuid('uuid', uuid)
  return new CommandError('WouldChangeOwningShard', message, { extra: writer.finish() })
}

function isArray({ paths }: ShardKeyPattern, document: Uint8Array): CommandError {
  const path = paths.find((each) => valueAt(document, each)?.type === BsonType.array)
  return new CommandError(
    'NotSingleValueField',
    `After applying the update to the document, the field '${path}' was found to be an array or array descendant.`,
  )
}

function immutable({ paths }: ShardKeyPattern, change: ReplacedDocument): CommandError {
  const { before, after } = change
  const path = paths.find((each) => !isSameValue(valueAt(before, each), valueAt(after, each))) ?? paths[0]!
  return immutableAt(path, change)
}

function immutableAt(path: string, { before, after, statement }: ReplacedDocument): CommandError {
  const { update } = statement
  const isModifier = update.type === BsonType.object && firstFieldName(update.slice())?.startsWith('$') === true
  if (isModifier)
    return new CommandError(
      'ImmutableField',
      `Performing an update on the path '${path}' would modify the immutable field '${path}'`,
    )
  const value = valueAt(after, path)
  const found =
    value === undefined
      ? `removed --${formatDocument(before)}`
      : `altered to ${path.slice(path.lastIndexOf('.') + 1)}: ${formatValue(value)}`
  return new CommandError(
    'ImmutableField',
    `After applying the update, the (immutable) field '${path}' was found to have been ${found}`,
  )
}

function isSameValue(a: RawValue | undefined, b: RawValue | undefined): boolean {
  return a !== undefined && b !== undefined ? compareValues(a, b) === 0 : a === b
}

/** The value at a path, or an array on the way to it. */
function valueAt(document: Uint8Array, path: string): RawValue | undefined {
  let value: RawValue | undefined
  for (const part of path.split('.')) {
    value =
      value === undefined
        ? findField(document, part)
        : value.type === BsonType.object
          ? findField(value.bytes, part, value.start)
          : undefined
    if (value === undefined) return undefined
    if (value.type === BsonType.array) return value
  }
  return value
}
