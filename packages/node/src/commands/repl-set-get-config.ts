import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { NodeInvocation } from '../host/node-host.js'
import { answered } from '../replication/answered.js'

/** Server: repl_set_config.idl, member_config.idl. Routers do not have it. */
export const replSetGetConfig: CommandRow<NodeInvocation> = {
  name: 'replSetGetConfig',
  routing: 'local',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/replSetGetConfig',
  status: 'full',
  summary: 'Describes the configuration of the replica set, which has one member.',
  behaviour: 'replSetGetConfigCommand',
  run({ host: { behaviours, context, role, set }, args }) {
    if (set !== null) return answered(set.coordinator.commands.getConfig(args.bool('commitmentStatus') === true))
    const { replicaSetConfig } = behaviours
    const writer = new DocumentWriter(1024).startDocument('config').string('_id', role.setName).int32('version', 1)
    if (replicaSetConfig !== 'slaveDelay') writer.int64('term', 1n)
    writer
      .startArray('members')
      .startDocument('0')
      .int32('_id', 0)
      .string('host', context.endpoint)
      .bool('arbiterOnly', false)
      .bool('buildIndexes', true)
      .bool('hidden', false)
      .double('priority', 1)
      .startDocument('tags')
      .end()
      .int64(replicaSetConfig === 'secondaryDelaySecs' ? 'secondaryDelaySecs' : 'slaveDelay', 0n)
      .int32('votes', 1)
      .end()
      .end()
    if (role.name === 'config-server') writer.bool('configsvr', true)
    return writer
      .int64('protocolVersion', 1n)
      .bool('writeConcernMajorityJournalDefault', true)
      .startDocument('settings')
      .bool('chainingAllowed', true)
      .int32('heartbeatIntervalMillis', 2000)
      .int32('heartbeatTimeoutSecs', 10)
      .int32('electionTimeoutMillis', 10_000)
      .int32('catchUpTimeoutMillis', -1)
      .int32('catchUpTakeoverDelayMillis', 30_000)
      .startDocument('getLastErrorModes')
      .end()
      .startDocument('getLastErrorDefaults')
      .int32('w', 1)
      .int32('wtimeout', 0)
      .end()
      .objectId('replicaSetId', setIdOf(role.setName))
      .end()
      .end()
  },
}

/** The same as long as the set has its name. */
function setIdOf(setName: string): Uint8Array {
  const id = new Uint8Array(12)
  id.set(Buffer.from(setName).subarray(0, id.length))
  return id
}
