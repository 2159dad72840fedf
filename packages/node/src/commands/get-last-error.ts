import type { CommandRow } from '@shardlab/actor'
import { BsonType, DocumentWriter } from '@shardlab/bson'
import { checkLastErrors, getLastErrorSpec, lastErrorOf, writeLastError } from '@shardlab/member'
import { writeConcernFault } from '@shardlab/replication'
import type { NodeInvocation } from '../host/node-host.js'

/** Server: get_last_error.cpp. Every write is on the disk when it is answered. */
export const getLastError: CommandRow<NodeInvocation> = {
  ...getLastErrorSpec,
  routing: 'local',
  status: 'full',
  summary: 'Reports the outcome of the last command of the connection. Refused since 5.1.',
  run({ args, connectionId, host }) {
    checkLastErrors(host)
    const writer = new DocumentWriter(256).int32('connectionId', connectionId)
    const failed = writeLastError(writer, lastErrorOf(host, connectionId), host.behaviours)
    const { config } = host.set.coordinator.state
    const w = args.value('w')
    const members = w === undefined ? 1 : w.isNumber() ? w.asNumber() : w.type === BsonType.string ? w.asString() : 1
    const fault = config === null ? null : writeConcernFault(config, { w: members })
    if (fault !== null) throw fault
    if (failed) return writer
    return writer.int32('syncMillis', 0).null('writtenTo').null('err')
  },
}
