import type { CommandRow } from '@shardlab/actor'
import { BsonType, DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'
import { controlEmulation } from '../access/needs.js'

/** Server: fail_point_cmds.cpp, fail_point.cpp (setGlobalFailPoint). */
export const configureFailPoint: CommandRow<MemberInvocation> = {
  name: 'configureFailPoint',
  routing: 'local',
  access: 'admin',
  privileges: controlEmulation,
  adminOnly: true,
  manual: 'reference/parameters',
  status: 'partial',
  deviations: ['D712', 'D910', 'D912', 'D913'],
  missing:
    'fail points other than failCommand, failGetMoreAfterCursorCheckout, those of maxTimeMS, and those at steps of migrations, resharding and movePrimary',
  summary: 'Turns a fail point of this member on or off.',
  run({ args, body, connectionId, host }) {
    const name = args.target.type === BsonType.string ? args.target.asString() : ''
    const count = host.failPoints.configure(name, body)
    host.logBuffer.add(host.context.now(), 'W', 'CONTROL', 23829, `conn${connectionId}`, 'Set failpoint', {
      failPointName: name,
    })
    const writer = new DocumentWriter(64)
    // int32 as in the server's appendNumber.
    return host.behaviours.failPointCounts ? writer.int32('count', count) : writer
  },
}
