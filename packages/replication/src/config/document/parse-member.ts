/** Server: member_config.cpp. */
import { BsonType, CommandError, fieldsOf, typeName, type RawValue } from '@shardlab/bson'
import { formatDocument, formatField } from '@shardlab/query'
import type { ReplicationRules } from '../../rules.js'
import { parseHost } from '../host-and-port.js'
import type { MemberConfig } from '../replica-set-config.js'
import { memberFault } from '../validate.js'
import { PlainFields, StructureFields, type FieldReader, type FieldType, type LateFaults } from './field-reader.js'

const delayMax = 31_622_400

const fieldTypes = {
  _id: 'any',
  host: 'string',
  votes: 'number',
  newlyAdded: 'any',
  priority: 'number',
  hidden: 'bool',
  arbiterOnly: 'bool',
  buildIndexes: 'bool',
  tags: 'object',
  horizons: 'object',
} as const satisfies Record<string, FieldType>

const typesByDelay = {
  slaveDelay: { ...fieldTypes, slaveDelay: 'number' },
  secondaryDelaySecs: { ...fieldTypes, secondaryDelaySecs: 'number' },
} as const

/** @throws CommandError with the text for the whole configuration */
export function parseMember(value: RawValue, rules: ReplicationRules, late: LateFaults): MemberConfig {
  try {
    return memberOf(value, rules, late)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    const shown = formatDocument(value.bytes, value.start)
    throw rules.configIsStructure
      ? new CommandError(error.code, `member: ${shown} :: caused by :: ${error.message}`)
      : new CommandError('InvalidReplicaSetConfig', `${error.codeName}: ${error.message} for member:${shown}`)
  }
}

function memberOf(value: RawValue, rules: ReplicationRules, late: LateFaults): MemberConfig {
  const delayName = rules.configIsStructure ? 'secondaryDelaySecs' : 'slaveDelay'
  const fields = rules.configIsStructure
    ? new StructureFields('MemberConfig', value, typesByDelay[delayName], ['_id', 'host'])
    : new PlainFields('replica set member configuration', value, typesByDelay[delayName], late)
  const id = idOf(fields, rules)
  const arbiterOnly = fields.bool('arbiterOnly', false)
  const votes = Math.trunc(fields.number('votes', 1))
  const priority = fields.number('priority', 1)
  const delaySecs = Math.trunc(fields.number(delayName, 0))
  const host = parseHost(fields.string('host').trim())
  if ('fault' in host) throw new CommandError('FailedToParse', host.fault)
  const member: MemberConfig = {
    id,
    host: host.host,
    arbiterOnly,
    buildIndexes: fields.bool('buildIndexes', true),
    hidden: fields.bool('hidden', false),
    // A default that an arbiter cannot have.
    priority: arbiterOnly && priority === 1 ? 0 : priority,
    tags: tagsOf(fields.value('tags')),
    horizons: horizonsOf(fields.value('horizons')),
    delaySecs,
    votes: votes === 0 ? 0 : 1,
    newlyAdded: isNewlyAdded(fields.value('newlyAdded')),
  }
  fields.checkBounds('_id', id, { min: 0, max: rules.memberIdMax }, `_id field value of ${id} is out of range.`)
  fields.checkBounds('priority', priority, { min: 0, max: 1000 }, `priority field value of ${priority} is out of range`)
  fields.checkBounds('votes', votes, { min: 0, max: 1 }, `votes field value is ${votes} but must be 0 or 1`)
  fields.checkBounds(
    delayName,
    delaySecs,
    { min: 0, max: delayMax },
    `${delayName} field value of ${delaySecs} seconds is out of range`,
  )
  const fault = memberFault(member, delayName)
  if (fault === null) return member
  if (rules.configIsStructure) throw new CommandError('BadValue', fault)
  late.first ??= fault
  return member
}

function idOf(fields: FieldReader, rules: ReplicationRules): number {
  const value = fields.value('_id')
  if (value === undefined) throw new CommandError('NoSuchKey', '_id field is missing')
  if (!value.isNumber()) {
    throw new CommandError(
      'TypeMismatch',
      rules.configIsStructure
        ? `Element for MemberId was not a number: ${formatField('_id', value)}`
        : `_id field has non-numeric type ${typeName(value.type)}`,
    )
  }
  const id = Math.trunc(value.asNumber())
  if (rules.configIsStructure && id < 0) {
    throw new CommandError('BadValue', `_id field value of ${id} can't be a negative number`)
  }
  return id
}

function isNewlyAdded(value: RawValue | undefined): boolean {
  if (value === undefined) return false
  if (value.type === BsonType.bool && value.asBool()) return true
  throw new CommandError('InvalidReplicaSetConfig', 'Value must be true if specified')
}

function tagsOf(value: RawValue | undefined): [string, string][] {
  if (value === undefined) return []
  return fieldsOf(value.bytes, value.start).map(([name, tag]) => {
    if (tag.type === BsonType.string) return [name, tag.asString()]
    throw new CommandError('TypeMismatch', `tags.${name} field has non-string value of type ${typeName(tag.type)}`)
  })
}

/** Server: split_horizon.cpp. */
function horizonsOf(value: RawValue | undefined): [string, string][] {
  if (value === undefined) return []
  return fieldsOf(value.bytes, value.start).map(([name, address]) => {
    if (address.type !== BsonType.string) {
      throw new CommandError(
        'TypeMismatch',
        `horizons.${name} field has non-string value of type ${typeName(address.type)}`,
      )
    }
    const host = parseHost(address.asString())
    if ('fault' in host) throw new CommandError('FailedToParse', host.fault)
    return [name, host.host]
  })
}
