import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { checkLastErrors, getLastErrorSpec, lastErrorOf, unsatisfiedW, writeLastError } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'

/** Server: cluster_get_last_error_cmd.cpp. */
export const getLastError: CommandRow<MongosInvocation> = {
  ...getLastErrorSpec,
  routing: 'local',
  status: 'partial',
  lacks: 'shardRawGLE, the replies of several shards, which the router does not ask again',
  summary:
    'Reports the outcome of the last command of the connection, and the shards that it wrote to. Refused since 5.1.',
  run({ args, connectionId, host }) {
    checkLastErrors(host)
    const last = lastErrorOf(host, connectionId)
    const writer = new DocumentWriter(256)
    const failed = writeLastError(writer, last, host.behaviours)
    const unsatisfied = last.members.length > 0 && !failed ? unsatisfiedW(args) : null
    if (unsatisfied !== null) throw unsatisfied
    const hosts = last.members.map((member) => host.hostOf(member)).sort()
    if (hosts.length === 1) writer.string('singleShard', hosts[0]!)
    else {
      writer.startArray('shards')
      hosts.forEach((each, i) => writer.string(String(i), each))
      writer.end().startDocument('shardRawGLE').end()
    }
    return failed ? writer : writer.null('err')
  },
}
