import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { NodeInvocation } from '../invocation.js'

export const serverStatus: CommandRow<NodeInvocation> = {
  name: 'serverStatus',
  routing: 'local',
  access: 'admin',
  manual: 'reference/command/serverStatus',
  status: 'partial',
  missing: 'sections beyond process, connections, opcounters, sessions, cursors',
  summary: 'Reports on the member.',
  run({ host }) {
    const { context, opcounters } = host
    const now = context.now()
    const uptimeMs = now - host.startedAtMs
    const writer = new DocumentWriter(1024)
      .string('host', context.endpoint)
      .string('version', host.behaviours.serverVersion)
      .string('process', host.process)
      .startArray('service')
      .string('0', host.role.name === 'shard' ? 'shard' : 'config')
      .end()
      .int64('pid', 1n)
      .double('uptime', Math.floor(uptimeMs / 1000))
      .int64('uptimeMillis', uptimeMs)
      .int64('uptimeEstimate', Math.floor(uptimeMs / 1000))
      .date('localTime', now)
      .startDocument('connections')
      .int32('current', host.connectionCount)
      .int32('active', host.connectionCount)
      .end()
      .startDocument('logicalSessionRecordCache')
      .int32('activeSessionsCount', host.sessions.size)
      .end()
      .startDocument('opcounters')
    for (const [name, value] of Object.entries(opcounters)) writer.int64(name, value)
    return writer
      .end()
      .startDocument('repl')
      .string('setName', host.role.setName)
      .bool('isWritablePrimary', true)
      .bool('secondary', false)
      .string('primary', context.endpoint)
      .string('me', context.endpoint)
      .end()
      .startDocument('storageEngine')
      .string('name', 'ephemeralForTest')
      .bool('persistent', false)
      .end()
      .startDocument('metrics')
      .startDocument('cursor')
      .startDocument('open')
      .int64('total', host.cursors.size)
      .end()
      .end()
      .end()
  },
}
