import type { CommandRow } from '@shardlab/actor'
import { writeServerStatus, type StatusMetrics, type StatusSection, serverStatusSpec } from '@shardlab/member'
import { Operation } from '../dispatch/operation.js'
import type { MongosHost, MongosInvocation } from '../host/mongos-host.js'

const sections: readonly StatusSection<MongosHost>[] = [
  {
    name: 'sharding',
    write(writer, { chunkSizeBytes, clock, options }) {
      if (options.configHost !== undefined) writer.string('configsvrConnectionString', options.configHost)
      const [seconds, increment] = clock.time
      writer.startDocument('lastSeenConfigServerOpTime').timestamp('ts', seconds, increment).int64('t', 1n).end()
      writer.int64('maxChunkSizeInBytes', chunkSizeBytes)
    },
  },
  {
    name: 'shardingStatistics',
    write(writer, { behaviours, catalog, statistics }) {
      if (behaviours.targetedHostsAreCounted) statistics.writeTargeted(writer)
      writer
        .startDocument('catalogCache')
        .int64('numDatabaseEntries', catalog.databaseCount)
        .int64('numCollectionEntries', catalog.collectionCount)
        .int64('countStaleConfigErrors', catalog.staleConfigCount)
      catalog.refreshes.write(writer).end()
    },
  },
  {
    name: 'hedgingMetrics',
    exists: ({ behaviours }) => behaviours.hedgedReads,
    write: (writer, { remote }) => remote.hedgedReads.write(writer),
  },
  {
    name: 'transactions',
    exists: ({ behaviours }) => behaviours.shardedTransactions,
    write(writer, { transactions, operations }) {
      let open = 0
      for (const { isKnown, outcome } of transactions.all()) if (isKnown && outcome === 'open') open++
      const active = [...operations].filter((each) => each instanceof Operation && each.transaction !== null).length
      transactions.statistics.write(writer, { open, active: Math.min(open, active) })
    },
  },
]

const metrics: StatusMetrics<MongosHost> = {
  heldBytes: () => 0,
  write(writer, { cursors }) {
    writer
      .startDocument('cursor')
      .int64('timedOut', cursors.timedOutCount)
      .startDocument('open')
      .int64('multiTarget', cursors.multiTargetCount)
      .int64('singleTarget', cursors.size - cursors.multiTargetCount)
      .int64('pinned', cursors.pinnedCount)
      .int64('total', cursors.size)
      .end()
      .end()
  },
}

export const serverStatus: CommandRow<MongosInvocation> = {
  ...serverStatusSpec,
  routing: 'local',
  status: 'partial',
  deviations: ['D700', 'D705', 'D870'],
  lacks:
    'most parts of metrics; what an emulated member does not have: connection pools, the operating system; sections about concerns and security',
  summary: 'Reports on the router: its connections, cursors and commands, and how commands were targeted.',
  run: ({ args, host }) => writeServerStatus(host, args, sections, metrics),
}
