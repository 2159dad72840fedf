/** Server: ReplSetConfigSettings; until 4.4 ReplSetConfig::_parseSettingsSubdocument. */
import {
  BsonType,
  CommandError,
  emptyDocumentValue,
  fieldsOf,
  findField,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import type { ReplicationRules } from '../../rules.js'
import {
  defaultSettings,
  type DefaultWriteConcern,
  type MemberConfig,
  type ReplicaSetSettings,
  type TagMode,
} from '../replica-set-config.js'
import { PlainFields, StructureFields, type FieldReader, type FieldType, type LateFaults } from './field-reader.js'

const fieldTypes = {
  chainingAllowed: 'bool',
  heartbeatIntervalMillis: 'exact',
  heartbeatTimeoutSecs: 'exact',
  electionTimeoutMillis: 'exact',
  catchUpTimeoutMillis: 'exact',
  catchUpTakeoverDelayMillis: 'exact',
  getLastErrorModes: 'object',
  getLastErrorDefaults: 'object',
  replicaSetId: 'objectId',
} as const satisfies Record<string, FieldType>

const int64Max = Number.MAX_SAFE_INTEGER
const positive = { min: 1, max: int64Max, exclusive: true }
const orMinusOne = { min: -1, max: int64Max }

/** @throws CommandError */
export function parseSettings(
  value: RawValue | undefined,
  members: readonly MemberConfig[],
  rules: ReplicationRules,
  late: LateFaults,
): ReplicaSetSettings {
  const document = value ?? emptyDocumentValue
  const fields = rules.configIsStructure
    ? new StructureFields('ReplSetConfig.settings', document, fieldTypes, [], false)
    : new PlainFields(null, document, fieldTypes, late)
  const integer = (name: keyof typeof fieldTypes, otherwise: number, bounds: typeof orMinusOne, fault: string) =>
    integerOf(fields, rules, name, otherwise, bounds, fault)
  const heartbeatIntervalMs = fields.integer('heartbeatIntervalMillis', defaultSettings.heartbeatIntervalMs)
  fields.checkBounds(
    'heartbeatIntervalMillis',
    heartbeatIntervalMs,
    rules.configIsStructure ? positive : { min: 0, max: int64Max },
    `settings.heartbeatIntervalMillis field value must be non-negative, but found ${heartbeatIntervalMs}`,
  )
  return {
    heartbeatIntervalMs,
    electionTimeoutMs: integer('electionTimeoutMillis', 10_000, positive, 'election timeout must be greater than 0'),
    heartbeatTimeoutMs:
      1000 * integer('heartbeatTimeoutSecs', 10, positive, 'heartbeat timeout must be greater than 0'),
    catchUpTimeoutMs: integer(
      'catchUpTimeoutMillis',
      -1,
      orMinusOne,
      'catch-up timeout must be positive, 0 (no catch-up) or -1 (infinite catch-up).',
    ),
    catchUpTakeoverDelayMs: integer(
      'catchUpTakeoverDelayMillis',
      30_000,
      orMinusOne,
      'catch-up takeover delay must be -1 (no catch-up takeover) or greater than or equal to 0.',
    ),
    chainingAllowed: fields.bool('chainingAllowed', true),
    defaultWriteConcern: defaultsOf(fields.value('getLastErrorDefaults')),
    modes: modesOf(fields.value('getLastErrorModes'), members, rules),
    replicaSetId: replicaSetIdOf(fields.value('replicaSetId')),
  }
}

/** These values are refused at once in every version. */
function integerOf(
  fields: FieldReader,
  rules: ReplicationRules,
  name: string,
  otherwise: number,
  bounds: { min: number; max: number },
  fault: string,
): number {
  const value = fields.integer(name, otherwise)
  if (rules.configIsStructure) fields.checkBounds(name, value, bounds, '')
  else if (value < bounds.min) {
    throw new CommandError('BadValue', `Invalid value in field "${name}": ${value}: ${fault}`)
  }
  return value
}

function defaultsOf(value: RawValue | undefined): DefaultWriteConcern {
  if (value === undefined) return defaultSettings.defaultWriteConcern
  const field = (name: string) => findField(value.bytes, name, value.start)
  const w = field('w')
  if (w !== undefined && w.type !== BsonType.string && !w.isNumber()) {
    throw new CommandError('FailedToParse', 'w has to be a number or a string')
  }
  const wtimeout = field('wtimeout')
  const number = w === undefined ? 1 : w.type === BsonType.string ? w.asString() : Math.trunc(w.asNumber())
  const sync = field('j')?.isTruthy() === true ? 'j' : field('fsync')?.isTruthy() === true ? 'fsync' : null
  return { w: number, wtimeout: wtimeout?.isNumber() === true ? Math.trunc(wtimeout.asNumber()) : 0, sync }
}

function modesOf(
  value: RawValue | undefined,
  members: readonly MemberConfig[],
  { configIsStructure }: ReplicationRules,
): [string, TagMode][] {
  if (value === undefined) return []
  const path = configIsStructure ? 'getLastErrorModes' : 'settings.getLastErrorModes'
  const names = new Set<string>()
  return fieldsOf(value.bytes, value.start).map(([name, mode]) => {
    if (names.has(name)) {
      throw new CommandError(
        configIsStructure ? 51_001 : 'DuplicateKey',
        `${path} contains multiple fields named ${name}`,
      )
    }
    names.add(name)
    if (mode.type !== BsonType.object) {
      throw new CommandError('TypeMismatch', `Expected ${path}.${name} to be an Object, not ${typeName(mode.type)}`)
    }
    return [name, modeOf(mode, `${path}.${name}`, members)]
  })
}

function modeOf(mode: RawValue, path: string, members: readonly MemberConfig[]): TagMode {
  return fieldsOf(mode.bytes, mode.start).map(([tag, value]) => {
    if (!value.isNumber()) {
      throw new CommandError('TypeMismatch', `Expected ${path}.${tag} to be a number, not ${typeName(value.type)}`)
    }
    const distinctValues = Math.trunc(value.asNumber())
    if (distinctValues <= 0) {
      throw new CommandError('BadValue', `Value of ${path}.${tag} must be positive, but found ${distinctValues}`)
    }
    if (!members.some(({ tags }) => tags.some(([name]) => name === tag))) {
      throw new CommandError('NoSuchKey', `No replica set tag key ${tag} in config`)
    }
    return [tag, distinctValues]
  })
}

function replicaSetIdOf(value: RawValue | undefined): Uint8Array | null {
  if (value === undefined) return null
  const id = new Uint8Array(value.slice())
  if (id.some((byte) => byte !== 0)) return id
  throw new CommandError('BadValue', 'replicaSetId field value cannot be null')
}
