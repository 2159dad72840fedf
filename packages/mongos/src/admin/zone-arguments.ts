/**
 * Server: add_shard_to_zone_request_type.cpp, update_zone_key_range_request_type.cpp,
 * bson_extract.cpp.
 */
import { checkCollectionName, checkDatabaseName } from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  compareDocuments,
  findField,
  isEmptyDocument,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { MongosInvocation } from '../host/mongos-host.js'

/** @throws CommandError 14 TypeMismatch, 4 NoSuchKey */
export function zoneArguments({ args }: MongosInvocation): { shard: string; zone: string } {
  const shard = stringOf(args.command, args.target)
  return { shard, zone: stringOf('zone', args.value('zone')) }
}

/**
 * @throws CommandError as {@link zoneArguments}; 73 InvalidNamespace, 2 BadValue for an empty
 *   bound, 9 FailedToParse for an invalid range
 */
export function zoneRangeArguments({ args, body }: MongosInvocation): {
  ns: string
  min: Uint8Array
  max: Uint8Array
  zone: string | null
} {
  const ns = stringOf(args.command, args.target)
  checkNamespace(ns)
  const min = boundOf('min', args.value('min'))
  const max = boundOf('max', args.value('max'))
  if (compareDocuments(min, max) >= 0)
    throw new CommandError(
      'FailedToParse',
      `min: ${formatDocument(min)} should be less than max: ${formatDocument(max)}`,
    )
  // Null removes the range, but the argument parser treats null as absent.
  const zone = findField(body, 'zone')
  if (zone === undefined) throw missing('zone')
  if (zone.type === BsonType.null) return { ns, min, max, zone: null }
  if (zone.type === BsonType.string) return { ns, min, max, zone: zone.asString() }
  throw wrongType('zone', zone, 'string or null')
}

function checkNamespace(ns: string): void {
  const dot = ns.indexOf('.')
  if (dot < 1) throw new CommandError('InvalidNamespace', `Invalid namespace specified '${ns}'`)
  const db = ns.slice(0, dot)
  checkDatabaseName(db)
  checkCollectionName(db, ns.slice(dot + 1))
}

function boundOf(name: 'min' | 'max', value: RawValue | undefined): Uint8Array {
  if (value === undefined) throw missing(name)
  if (value.type !== BsonType.object) throw wrongType(name, value, 'object')
  const bound = value.slice()
  if (isEmptyDocument(bound)) throw new CommandError('BadValue', `The field '${name}' cannot be empty`)
  return bound
}

function stringOf(name: string, value: RawValue | undefined): string {
  if (value === undefined) throw missing(name)
  if (value.type !== BsonType.string) throw wrongType(name, value, 'string')
  return value.asString()
}

function missing(name: string): CommandError {
  return new CommandError('NoSuchKey', `Missing expected field "${name}"`)
}

function wrongType(name: string, value: RawValue, wanted: string): CommandError {
  return new CommandError(
    'TypeMismatch',
    `"${name}" had the wrong type. Expected ${wanted}, found ${typeName(value.type)}`,
  )
}
