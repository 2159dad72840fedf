/**
 * Manual: core/clustered-collections. Server: create_collection.cpp (validateClusteredIndexSpec),
 * clustered_collection_util.cpp, index_key_validate.cpp.
 */
import { checkFields, type CommandArguments } from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  DocumentWriter,
  FieldIterator,
  findField,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import { isIdKey, type Collection } from '@shardlab/storage'

const fields = { v: 'number', key: 'object!', name: 'string', unique: 'bool!' } as const

/** `{ clusteredIndex: false }` requests none. */
export function requestsClusteredIndex(args: CommandArguments): boolean {
  const value = args.value('clusteredIndex')
  return value !== undefined && (value.type !== BsonType.bool || value.asBool())
}

/**
 * Writes `clusteredIndex: { v, key, name, unique }` and `expireAfterSeconds` as they are stored.
 * @throws CommandError 14 TypeMismatch, 40414, 40415, 6127800, 6049200, 6049204, 6026500, 6026501,
 *   5979700, 5979703, 5979704, 197 InvalidIndexSpecificationOption, 72 InvalidOptions
 */
export function writeClusteredIndex(writer: DocumentWriter, args: CommandArguments, nowMs: number): void {
  if (!requestsClusteredIndex(args)) return
  const spec = specification(args.value('clusteredIndex')!)
  checkCombinations(args)
  const key = findField(spec, 'key')!.slice()
  if (!findField(spec, 'unique')!.isTruthy())
    throw new CommandError(5979700, 'The clusteredIndex option requires unique: true to be specified')
  if (!isIdKey(key))
    throw new CommandError(
      'InvalidIndexSpecificationOption',
      'The clusteredIndex option is only supported for key: {_id: 1}',
    )
  const seconds = args.number('expireAfterSeconds')
  if (seconds !== undefined) checkClusteredExpiry(seconds, nowMs)
  const version = Math.trunc(findField(spec, 'v')?.asNumber() ?? 2)
  const name = findField(spec, 'name')?.asString() ?? '_id_'
  const stored = new DocumentWriter(96)
    .int32('v', version)
    .document('key', key)
    .string('name', name)
    .bool('unique', true)
    .finish()
  if (version !== 2) {
    throw new CommandError(
      5979704,
      `Invalid clusteredIndex specification ${formatDocument(stored)}; cannot create a clusteredIndex with v=${version}`,
    )
  }
  writer.document('clusteredIndex', stored)
  if (seconds !== undefined) writer.int64('expireAfterSeconds', Math.trunc(seconds))
}

/** @throws CommandError 72 InvalidOptions */
export function checkClusteredExpiry(seconds: number, nowMs: number): void {
  if (Math.trunc(seconds) < 0)
    throw new CommandError('InvalidOptions', "TTL index 'expireAfterSeconds' option cannot be less than 0")
  if (Math.trunc(seconds) * 1000 > nowMs) {
    throw new CommandError(
      'InvalidOptions',
      "TTL index 'expireAfterSeconds' option must be within an acceptable range, try a lower number",
    )
  }
}

/**
 * Compares a specification for createIndexes with the existing clustered index. Server:
 * index_catalog_impl.cpp, isSpecOKClusteredIndexCheck.
 * @throws CommandError 6243700, 6479600, 6100906, 6100908, 6100909
 */
export function withoutClusteredOption(spec: Uint8Array, collection: Collection | undefined): Uint8Array {
  const asked = findField(spec, 'clustered')?.isTruthy() === true
  const clusteredIndex = collection === undefined ? undefined : findField(collection.options, 'clusteredIndex')?.slice()
  if (!asked && clusteredIndex === undefined) return spec
  const key = findField(spec, 'key')
  const keysMatch = key?.type === BsonType.object && isIdKey(key.slice())
  if (asked && !keysMatch)
    throw new CommandError(
      6243700,
      "Cannot create index with option 'clustered' that does not match an existing clustered index",
    )
  if (clusteredIndex === undefined)
    throw new CommandError(
      6479600,
      "Cannot create an index with 'clustered' in the spec on a collection that is not clustered",
    )
  if (keysMatch) return checkSameClusteredIndex(spec)
  if (findField(spec, 'name')?.asString() === findField(clusteredIndex, 'name')!.asString()) {
    throw new CommandError(
      6100906,
      `Cannot create an index where the name matches the clusteredIndex but the key does not - indexSpec: ${formatDocument(spec)}, clusteredIndex: ${formatDocument(clusteredIndex)}`,
    )
  }
  const writer = new DocumentWriter(spec.length)
  for (const it = new FieldIterator(spec); it.next();)
    if (it.name() !== 'clustered') writer.value(it.name(), it.value())
  return writer.finish()
}

/** Like the server, replaces a different name by that of the existing index. */
function checkSameClusteredIndex(spec: Uint8Array): Uint8Array {
  const different = (name: string): string =>
    `Cannot create an index with the same key pattern as the collection's clusteredIndex but a different '${name}' field`
  if (Math.trunc(findField(spec, 'v')?.asNumber() ?? 2) !== 2) throw new CommandError(6100908, different('v'))
  const unique = findField(spec, 'unique')
  if (unique !== undefined && !unique.isTruthy()) throw new CommandError(6100909, different('unique'))
  return new DocumentWriter(48).startDocument('key').int32('_id', 1).end().string('name', '_id_').finish()
}

function specification(value: RawValue): Uint8Array {
  if (value.type === BsonType.bool) {
    throw new CommandError(
      5979703,
      "The 'clusteredIndex' legacy format {clusteredIndex: <bool>} is only supported for specific internal collections and vice versa",
    )
  }
  if (value.type !== BsonType.object) {
    throw new CommandError(
      'TypeMismatch',
      `BSON field 'create.clusteredIndex' is the wrong type '${typeName(value.type)}', expected types '[bool, object]'`,
    )
  }
  const spec = value.slice()
  checkFields('create.clusteredIndex', spec, fields)
  return spec
}

function checkCombinations(args: CommandArguments): void {
  const notAllowed = (name: string): string =>
    `'${name}' field for capped collections is not allowed on clustered collections. Did you mean 'capped: true' with 'expireAfterSeconds'?`
  if (args.bool('capped') === true)
    throw new CommandError(
      6127800,
      "Clustered capped collection only available with 'enableTestCommands' server parameter",
    )
  if (args.has('size')) throw new CommandError(6049200, notAllowed('size'))
  if (args.has('max')) throw new CommandError(6049204, notAllowed('max'))
  if (args.has('viewOn')) throw new CommandError(6026500, "The 'clusteredIndex' option is not supported with views")
  if (args.has('idIndex'))
    throw new CommandError('InvalidOptions', "The 'clusteredIndex' option is not supported with the 'idIndex' option")
  if (args.bool('autoIndexId') === false)
    throw new CommandError(6026501, "The 'clusteredIndex' option does not support {autoIndexId: false}")
}
