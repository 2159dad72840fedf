import { CommandArguments } from '@shardlab/actor'
import { CommandError, DocumentWriter, fieldsOf } from '@shardlab/bson'
import { compileCollation, formatDocument } from '@shardlab/query'
import { isHashedElement, shardCollectionFields, ShardKeyPattern, type Behaviours } from '@shardlab/sharding'

export interface ShardCollectionRequest {
  readonly args: CommandArguments
  readonly shardKey: ShardKeyPattern
  readonly unique: boolean
  /** `unique`, unless `enforceUniquenessCheck` is false. */
  readonly requiresUniqueIndex: boolean
  readonly createsIndex: boolean
  /** 0: the version's default. */
  readonly numInitialChunks: number
  readonly presplitHashedZones: boolean
  /** `{ locale: 'simple' }` was given, so the collection may have another default collation. */
  readonly collationGiven: boolean
}

const idKey = new DocumentWriter(16).int32('_id', 1).finish()
const maxChunksPerShard = 8192
const maxChunks = 1_000_000

/** @throws CommandError 40414 without a key, 2 BadValue, 20 IllegalOperation, 72 InvalidOptions */
export function parseShardCollection(
  behaviours: Behaviours,
  ns: string,
  body: Uint8Array,
  shardCount: number,
): ShardCollectionRequest {
  const args = CommandArguments.parse(body, shardCollectionFields, [], 'ignored')
  const key = args.document('key') ?? (behaviours.shardKeyDefaultsToId ? idKey : undefined)
  if (key === undefined)
    throw new CommandError(40414, "BSON field 'shardCollection.key' is missing but a required field")
  const shardKey = parseKey(behaviours, key)
  const unique = args.bool('unique') ?? false
  if (unique && shardKey.isHashed)
    throw new CommandError(
      'InvalidOptions',
      behaviours.shardCollectionIsCheckedBy === 'router'
        ? 'hashed shard keys cannot be declared unique.'
        : "Hashed shard keys cannot be declared unique. It's possible to ensure uniqueness on the hashed field by declaring an additional (non-hashed) unique index on the field.",
    )
  checkNotSystem(behaviours, ns)
  if (args.has('timeseries'))
    throw new CommandError('InvalidOptions', "the field 'timeseries' of shardCollection is not supported")
  const collation = args.document('collation')
  if (collation !== undefined && compileCollation(collation) !== null)
    throw new CommandError(
      'BadValue',
      `The collation for shardCollection must be {locale: 'simple'}, but found: ${formatDocument(collation)}`,
    )
  const numInitialChunks = behaviours.numInitialChunksIsIgnored ? 0 : Math.trunc(args.number('numInitialChunks') ?? 0)
  const limit = maxChunksPerShard * shardCount
  if (numInitialChunks < 0 || numInitialChunks > limit || numInitialChunks > maxChunks) {
    throw new CommandError(
      'InvalidOptions',
      `numInitialChunks cannot be more than either: ${limit}, ${maxChunksPerShard} * number of shards; or ${maxChunks}`,
    )
  }
  return {
    args,
    shardKey,
    unique,
    requiresUniqueIndex: unique && (args.bool('enforceUniquenessCheck') ?? true),
    createsIndex: args.bool('implicitlyCreateIndex') ?? true,
    numInitialChunks,
    presplitHashedZones: behaviours.presplitHashedZones && (args.bool('presplitHashedZones') ?? false),
    collationGiven: collation !== undefined,
  }
}

function parseKey(behaviours: Behaviours, key: Uint8Array): ShardKeyPattern {
  if (behaviours.shardCollectionIsCheckedBy === 'router') checkOldKey(key)
  return ShardKeyPattern.parse(key, {
    compoundHashed: behaviours.compoundHashedShardKeys,
    refuseDollars: behaviours.shardKeyPathsWithDollarsAreRefused,
  })
}

/** Until 2.6 the value of a field must be exactly 1, and the errors differ. */
function checkOldKey(key: Uint8Array): void {
  const values = fieldsOf(key).map(([, value]) => value)
  if (values.length === 0) throw new CommandError('BadValue', 'no shard key')
  if (values.some(isHashedElement)) {
    if (values.length > 1)
      throw new CommandError('BadValue', 'hashed shard keys currently only support single field keys')
  } else if (values.some((value) => !value.isNumber() || value.asNumber() !== 1)) {
    throw new CommandError(
      'BadValue',
      'Unsupported shard key pattern.  Pattern must either be a single hashed field, or a list of ascending fields.',
    )
  }
}

function checkNotSystem(behaviours: Behaviours, ns: string): void {
  if (!ns.slice(ns.indexOf('.') + 1).startsWith('system.')) return
  throw new CommandError(
    'IllegalOperation',
    behaviours.alreadyShardedError === 'tracked'
      ? `Special collection '${ns}' cannot be sharded`
      : "can't shard system namespaces",
  )
}
