/** Server: repl_set_config.cpp. */
import { BsonType, CommandError, documentValue, fieldsOf, typeName } from '@shardlab/bson'
import type { ReplicationRules } from '../../rules.js'
import { uninitializedTerm } from '../../optime.js'
import type { ReplicaSetConfig } from '../replica-set-config.js'
import { PlainFields, StructureFields, type FieldType, type LateFaults } from './field-reader.js'
import { parseMember } from './parse-member.js'
import { parseSettings } from './parse-settings.js'

const fieldTypes = {
  _id: 'string',
  version: 'exact',
  members: 'array',
  configsvr: 'bool',
  protocolVersion: 'number',
  writeConcernMajorityJournalDefault: 'bool',
  settings: 'object',
} as const satisfies Record<string, FieldType>

const typesWithTerm = { ...fieldTypes, term: 'exact' } as const
const typesOfStructure = { ...typesWithTerm, repaired: 'any', recipientConfig: 'any' } as const

export interface ParsedConfig {
  readonly config: ReplicaSetConfig
  /** Until 4.4: a value out of range, which the validation refuses. Null: none. */
  readonly fault: string | null
}

const versionMax = 2_147_483_647

/** @throws CommandError */
export function parseConfig(document: Uint8Array, rules: ReplicationRules): ParsedConfig {
  const late: LateFaults = { first: null }
  const value = documentValue(document)
  const fields = rules.configIsStructure
    ? new StructureFields('ReplSetConfig', value, typesOfStructure, ['_id', 'version', 'members'])
    : new PlainFields('replica set configuration', value, rules.configTerm ? typesWithTerm : fieldTypes, late)
  const name = fields.string('_id')
  const version = fields.integer('version')
  const bounds = { min: 1, max: versionMax, exclusive: true }
  fields.checkBounds('version', version, bounds, `version field value of ${version} is out of range`)
  const term = rules.configTerm ? fields.integer('term', uninitializedTerm) : uninitializedTerm
  const terms = { min: uninitializedTerm, max: versionMax }
  fields.checkBounds('term', term, terms, `term field value of ${term} is out of range`)
  if (name === '') {
    const fault = 'Replica set configuration must have non-empty _id field'
    if (rules.configIsStructure) throw new CommandError('BadValue', fault)
    late.first ??= fault
  }
  if (!fields.has('members')) throw new CommandError('NoSuchKey', 'Missing expected field "members"')
  const list = fields.value('members')!
  const members = fieldsOf(list.bytes, list.start).map(([index, member]) => {
    if (member.type === BsonType.object) return parseMember(member, rules, late)
    throw new CommandError(
      'TypeMismatch',
      rules.configIsStructure
        ? `BSON field 'ReplSetConfig.members.${index}' is the wrong type '${typeName(member.type)}', expected type 'object'`
        : `Expected type of members.${index} to be Object, but found ${typeName(member.type)}`,
    )
  })
  const protocol = fields.number('protocolVersion', 1)
  const protocolFault = `protocolVersion field value of ${protocol} is not 1`
  fields.checkBounds('protocolVersion', protocol, { min: 1, max: 1 }, protocolFault)
  if (rules.configIsStructure && fields.value('repaired')?.isTruthy() === true) {
    throw new CommandError('InvalidReplicaSetConfig', 'Replicated data has been repaired')
  }
  const config = {
    name,
    version,
    term,
    members,
    settings: parseSettings(fields.value('settings'), members, rules, late),
    majorityJournals: fields.bool('writeConcernMajorityJournalDefault', true),
    configServer: fields.bool('configsvr', false),
  }
  return { config, fault: late.first }
}
