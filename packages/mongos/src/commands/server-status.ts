import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../command/invocation.js'

/** Connections that the server would still take; nothing here runs out of them. */
const availableConnections = 1_000_000

export const serverStatus: CommandRow<MongosInvocation> = {
  name: 'serverStatus',
  routing: 'local',
  access: 'admin',
  manual: 'reference/command/serverStatus',
  status: 'partial',
  missing: 'sections on memory, network, locks and the operating system',
  summary: 'Reports on the router: its process, connections, cursors, and how commands were targeted.',
  run({ host }) {
    host.statistics.opcounters.command++
    const { catalog, connections, context, cursors, sessions, statistics } = host
    const now = context.now()
    const uptimeMs = now - host.startedAtMs
    const uptimeSeconds = Math.floor(uptimeMs / 1000)
    const writer = new DocumentWriter(4096)
      .string('host', context.endpoint)
      .string('version', host.behaviours.serverVersion)
      .string('process', host.process)
      .int64('pid', 1n)
      .double('uptime', uptimeSeconds)
      .int64('uptimeMillis', uptimeMs)
      .int64('uptimeEstimate', uptimeSeconds)
      .date('localTime', now)
      .startDocument('asserts')
    for (const name of ['regular', 'warning', 'msg', 'user', 'rollovers']) writer.int32(name, 0)
    writer
      .end()
      .startDocument('connections')
      .int32('current', connections.current)
      .int32('available', availableConnections)
      .int32('totalCreated', connections.totalCreated)
      .int32('active', connections.current)
      .end()
      .startDocument('logicalSessionRecordCache')
      .int32('activeSessionsCount', sessions.size)
      .end()
      .startDocument('opcounters')
    for (const [name, value] of Object.entries(statistics.opcounters)) writer.int64(name, value)
    writer.end().startDocument('shardingStatistics')
    statistics
      .writeTargeted(writer)
      .startDocument('catalogCache')
      .int64('numDatabaseEntries', catalog.databaseCount)
      .int64('numCollectionEntries', catalog.collectionCount)
      .int64('countStaleConfigErrors', catalog.staleConfigCount)
      .int64('countRefreshes', catalog.refreshCount)
      .end()
      .end()
    return writer
      .startDocument('metrics')
      .startDocument('cursor')
      .int64('timedOut', cursors.timedOutCount)
      .startDocument('open')
      .int64('multiTarget', cursors.multiTargetCount)
      .int64('singleTarget', cursors.size - cursors.multiTargetCount)
      .int64('pinned', cursors.pinnedCount)
      .int64('total', cursors.size)
      .end()
      .end()
      .end()
  },
}
