/** Server: ReplSetConfig::toBSON, MemberConfig::toBSON, repl_set_config.idl. */
import { arrayIndexName, DocumentWriter } from '@shardlab/bson'
import type { ReplicationRules } from '../../rules.js'
import { uninitializedTerm } from '../../optime.js'
import type { MemberConfig, ReplicaSetConfig, ReplicaSetSettings } from '../replica-set-config.js'

/**
 * The document as the server stores and shows it, with every default.
 * @param shown without `newlyAdded`, which clients do not see
 */
export function configDocument(config: ReplicaSetConfig, rules: ReplicationRules, shown = false): Uint8Array {
  const writer = new DocumentWriter(1024)
  writeConfig(writer, config, rules, shown)
  return writer.finish()
}

/** Appends the fields of the document. */
export function writeConfig(
  writer: DocumentWriter,
  config: ReplicaSetConfig,
  rules: ReplicationRules,
  shown: boolean,
): void {
  const { name, version, term, configServer, majorityJournals, settings } = config
  const membersFirst = rules.configIsStructure
  writer.string('_id', name).int32('version', version)
  if (term !== uninitializedTerm) writer.integer('term', term)
  if (membersFirst) writeMembers(writer, config, rules, shown)
  if (configServer) writer.bool('configsvr', true)
  writer.int64('protocolVersion', 1).bool('writeConcernMajorityJournalDefault', majorityJournals)
  if (!membersFirst) writeMembers(writer, config, rules, shown)
  writer.startDocument('settings')
  writeSettings(writer, settings)
  writer.end()
}

function writeMembers(
  writer: DocumentWriter,
  { members }: ReplicaSetConfig,
  rules: ReplicationRules,
  shown: boolean,
): void {
  writer.startArray('members')
  members.forEach((member, i) => {
    writer.startDocument(arrayIndexName(i))
    writeMember(writer, member, rules, shown)
    writer.end()
  })
  writer.end()
}

function writeMember(writer: DocumentWriter, member: MemberConfig, rules: ReplicationRules, shown: boolean): void {
  writer.int32('_id', member.id).string('host', member.host).bool('arbiterOnly', member.arbiterOnly)
  if (member.newlyAdded && !shown) writer.bool('newlyAdded', true)
  writer.bool('buildIndexes', member.buildIndexes).bool('hidden', member.hidden).double('priority', member.priority)
  writer.startDocument('tags')
  for (const [name, value] of member.tags) writer.string(name, value)
  writer.end()
  if (member.horizons.length > 0) {
    writer.startDocument('horizons')
    for (const [name, host] of member.horizons) writer.string(name, host)
    writer.end()
  }
  writer
    .int64(rules.configIsStructure ? 'secondaryDelaySecs' : 'slaveDelay', member.delaySecs)
    .int32('votes', member.votes)
}

function writeSettings(writer: DocumentWriter, settings: ReplicaSetSettings): void {
  const { modes, defaultWriteConcern, replicaSetId } = settings
  writer
    .bool('chainingAllowed', settings.chainingAllowed)
    .integer('heartbeatIntervalMillis', settings.heartbeatIntervalMs)
    .integer('heartbeatTimeoutSecs', settings.heartbeatTimeoutMs / 1000)
    .integer('electionTimeoutMillis', settings.electionTimeoutMs)
    .integer('catchUpTimeoutMillis', settings.catchUpTimeoutMs)
    .integer('catchUpTakeoverDelayMillis', settings.catchUpTakeoverDelayMs)
    .startDocument('getLastErrorModes')
  for (const [name, mode] of modes) {
    writer.startDocument(name)
    for (const [tag, distinctValues] of mode) writer.int32(tag, distinctValues)
    writer.end()
  }
  writer.end().startDocument('getLastErrorDefaults')
  const { w, wtimeout, sync } = defaultWriteConcern
  if (typeof w === 'string') writer.string('w', w)
  else writer.int32('w', w)
  if (sync !== null) writer.bool(sync, true)
  writer.int32('wtimeout', wtimeout).end()
  if (replicaSetId !== null) writer.objectId('replicaSetId', replicaSetId)
}
