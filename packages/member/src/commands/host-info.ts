import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'
import { onCluster } from '../access/needs.js'

export const hostInfo: CommandRow<MemberInvocation> = {
  name: 'hostInfo',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('hostInfo'),
  manual: 'reference/command/hostInfo',
  status: 'partial',
  deviations: ['D700'],
  lacks: 'the real machine, which an emulated cluster does not show',
  summary: 'Describes the host.',
  run({ host }) {
    return new DocumentWriter(512)
      .startDocument('system')
      .date('currentTime', host.context.now())
      .string('hostname', host.context.endpoint)
      .int32('cpuAddrSize', 64)
      .int64('memSizeMB', 1024n)
      .int64('memLimitMB', 1024n)
      .int32('numCores', 1)
      .string('cpuArch', 'x86_64')
      .bool('numaEnabled', false)
      .end()
      .startDocument('os')
      .string('type', 'Linux')
      .string('name', 'shardlab')
      .string('version', '1')
      .end()
      .startDocument('extra')
      .end()
  },
}
