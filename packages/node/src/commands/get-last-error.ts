import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { checkLastErrors, getLastErrorSpec, lastErrorOf, unsatisfiedW, writeLastError } from '@shardlab/member'
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
    const unsatisfied = unsatisfiedW(args)
    if (unsatisfied !== null) throw unsatisfied
    if (failed) return writer
    return writer.int32('syncMillis', 0).null('writtenTo').null('err')
  },
}
