/** Manual: reference/write-concern. Server: write_concern_options.cpp, write_concern_idl.idl. */
import {
  BsonType,
  CommandError,
  FieldIterator,
  fieldsOf,
  firstFieldName,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'

/** For each tag the least number of distinct values. */
export type WriteTags = readonly (readonly [tag: string, distinctValues: number])[]

export interface WriteConcern {
  /** Number of members, name of a mode, or tags. */
  readonly w: number | string | WriteTags
  /** As the client sent it. */
  readonly document: Uint8Array
}

/** Of a replica set. */
export const membersMax = 50
const ignoredFields: ReadonlySet<string> = new Set(['wElectionId', 'wOpTime', 'getLastError', 'provenance'])

/**
 * @returns null for `{}`, which selects the default
 * @throws CommandError 9 FailedToParse; since 5.0, 40415 for other fields and 14 TypeMismatch for
 *   invalid flags
 */
export function parseWriteConcern(document: Uint8Array, { writeConcernIsTyped }: Behaviours): WriteConcern | null {
  if (firstFieldName(document) === undefined) return null
  const rules = writeConcernIsTyped ? typed : untyped
  let w: WriteConcern['w'] = 1
  let j = false
  let fsync = false
  for (const it = new FieldIterator(document); it.next();) {
    const name = it.name()
    const value = it.value()
    if (name === 'w') w = rules.members(value)
    else if (name === 'j') j = flagOf(name, value, rules)
    else if (name === 'fsync') fsync = flagOf(name, value, rules)
    else if (name === 'wtimeout') rules.checkTimeout(value)
    else if (!ignoredFields.has(name)) throw rules.unknownField(name)
  }
  if (j && fsync) throw new CommandError('FailedToParse', 'fsync and j options cannot be used together')
  return { w, document }
}

/** Differences between the parser of 5.0 and the one before. */
interface Rules {
  members(value: RawValue): WriteConcern['w']
  checkTimeout(value: RawValue): void
  unknownField(name: string): CommandError
  wrongFlag(name: string, value: RawValue): CommandError
}

const typed: Rules = {
  members(value) {
    if (value.type !== BsonType.object)
      return plainMembers(value, `w has to be a number, string, or object; found: ${typeName(value.type)}`)
    return tagsOf(value)
  },
  checkTimeout(value) {
    if (!value.isNumber() && value.type !== BsonType.null)
      throw new CommandError('FailedToParse', 'wtimeout has to be a number')
  },
  unknownField: (name) =>
    new CommandError('IDLUnknownField', `BSON field 'WriteConcernOptions.${name}' is an unknown field.`),
  wrongFlag: (name, value) =>
    new CommandError(
      'TypeMismatch',
      `BSON field 'WriteConcernOptions.${name}' is the wrong type '${typeName(value.type)}', expected types '[bool, long, int, decimal, double]'`,
    ),
}

const untyped: Rules = {
  members: (value) => plainMembers(value, 'w has to be a number or a string'),
  checkTimeout: () => {},
  unknownField: (name) => new CommandError('FailedToParse', `unrecognized write concern field: ${name}`),
  wrongFlag: (name) => new CommandError('FailedToParse', `${name} must be numeric or a boolean value`),
}

function plainMembers(value: RawValue, wrongType: string): number | string {
  if (value.isNumber()) {
    const w = Math.trunc(value.asNumber())
    if (!(w >= 0 && w <= membersMax))
      throw new CommandError(
        'FailedToParse',
        `w has to be a non-negative number and not greater than ${membersMax}; found: ${w}`,
      )
    return w
  }
  if (value.type === BsonType.string) {
    const mode = value.asString()
    if (mode.includes('\0')) throw new CommandError('FailedToParse', `w has illegal embedded NUL byte, w: ${mode}`)
    return mode
  }
  if (value.type === BsonType.null || value.type === BsonType.undefined) return 1
  throw new CommandError('FailedToParse', wrongType)
}

function tagsOf(value: RawValue): WriteTags {
  const tags = fieldsOf(value.slice())
  if (tags.length === 0) throw new CommandError('FailedToParse', 'tagged write concern requires tags')
  return tags.map(([name, count]) => {
    if (!count.isNumber())
      throw new CommandError(
        'FailedToParse',
        `tags must be a single level document with only number values; found: ${typeName(count.type)}`,
      )
    return [name, Math.trunc(count.asNumber())]
  })
}

function flagOf(name: string, value: RawValue, rules: Rules): boolean {
  if (value.type === BsonType.bool || value.isNumber()) return value.isTruthy()
  if (value.type === BsonType.null) return false
  throw rules.wrongFlag(name, value)
}
