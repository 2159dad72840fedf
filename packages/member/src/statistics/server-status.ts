/** The report of a member, section by section. Server: server_status_command.cpp; manual: reference/command/serverStatus. */
import type { CommandArguments } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MemberHost } from '../member-host.js'

/** One part of the report, a document named after it. */
export interface StatusSection<Host extends MemberHost> {
  readonly name: string
  /** Written where the client does not say otherwise; default true. */
  readonly byDefault?: boolean
  /** Does the member have this section? Default true. */
  exists?(host: Host): boolean
  /** Appends the fields; the section's document is open. */
  write(writer: DocumentWriter, host: Host): void
}

/** Connections that a server of default settings takes. */
const connectionsMax = 1_000_000
const bytesPerMegabyte = 1024 * 1024

/** Sections that every member has. */
const commonSections: readonly StatusSection<MemberHost>[] = [
  {
    name: 'asserts',
    write(writer, { statistics }) {
      writer
        .int32('regular', 0)
        .int32('warning', 0)
        .int32('msg', 0)
        .int32('user', statistics.userAsserts)
        .int32('tripwire', 0)
        .int32('rollovers', 0)
    },
  },
  {
    name: 'connections',
    write(writer, { connections, operations }) {
      let active = 0
      let awaiting = 0
      for (const { connectionId, command } of operations) {
        if (connectionId !== 0) active++
        if (command === 'hello' || command === 'isMaster') awaiting++
      }
      writer
        .int32('current', connections.current)
        .int32('available', connectionsMax - connections.current)
        .int32('totalCreated', connections.totalCreated)
        .int32('rejected', 0)
        .int32('active', active)
        .int32('threaded', connections.current)
        .int32('exhaustIsMaster', 0)
        .int32('exhaustHello', 0)
        .int32('awaitingTopologyChanges', awaiting)
    },
  },
  {
    name: 'queryAnalyzers',
    exists: ({ sampling }) => sampling !== null,
    write: (writer, { sampling }) => sampling!.writeStatus(writer),
  },
  {
    name: 'extra_info',
    write: (writer) => void writer.string('note', 'fields vary by platform'),
  },
  {
    name: 'logicalSessionRecordCache',
    write(writer, { sessions, startedAtMs }) {
      const { jobs } = sessions
      writer
        .int32('activeSessionsCount', sessions.size)
        .int32('sessionsCollectionJobCount', jobs.count)
        .int32('lastSessionsCollectionJobDurationMillis', 0)
        .date('lastSessionsCollectionJobTimestamp', jobs.lastAtMs ?? startedAtMs)
        .int32('lastSessionsCollectionJobEntriesRefreshed', 0)
        .int32('lastSessionsCollectionJobEntriesEnded', jobs.lastEnded)
        .int32('lastSessionsCollectionJobCursorsClosed', 0)
        .int32('transactionReaperJobCount', jobs.count)
        .int32('lastTransactionReaperJobDurationMillis', 0)
        .date('lastTransactionReaperJobTimestamp', jobs.lastAtMs ?? startedAtMs)
        .int32('lastTransactionReaperJobEntriesCleanedUp', jobs.lastEnded)
        .int32('sessionCatalogSize', sessions.size)
    },
  },
  {
    name: 'network',
    write(writer, { statistics: { network } }) {
      writer
        .int64('bytesIn', network.bytesIn)
        .int64('bytesOut', network.bytesOut)
        .int64('physicalBytesIn', network.bytesIn)
        .int64('physicalBytesOut', network.bytesOut)
        .int64('numSlowDNSOperations', 0)
        .int64('numSlowSSLOperations', 0)
        .int64('numRequests', network.requests)
    },
  },
  {
    name: 'opLatencies',
    write: (writer, { statistics }) => void statistics.latencies.write(writer, false),
  },
  {
    name: 'opcounters',
    write(writer, { statistics }) {
      for (const [name, value] of Object.entries(statistics.opcounters)) writer.int64(name, value)
    },
  },
]

/** What stands at the end of the report: not sections, but parts of the tree of metrics. */
export interface StatusMetrics<Host extends MemberHost> {
  /** Bytes of data that the member holds. */
  heldBytes(host: Host): number
  /** Appends what the role adds to `metrics`, in order of names. */
  write(writer: DocumentWriter, host: Host): void
}

/** Writes the report with the sections that the client wants. */
export function writeServerStatus<Host extends MemberHost>(
  host: Host,
  args: CommandArguments,
  sections: readonly StatusSection<Host>[],
  metrics: StatusMetrics<Host>,
): DocumentWriter {
  const now = host.context.now()
  const uptimeMs = now - host.startedAtMs
  const uptimeSeconds = Math.floor(uptimeMs / 1000)
  const writer = new DocumentWriter(8192)
    .string('host', host.context.endpoint)
    .string('version', host.behaviours.serverVersion)
    .string('process', host.process)
    .int64('pid', 1n)
    .double('uptime', uptimeSeconds)
    .int64('uptimeMillis', uptimeMs)
    .int64('uptimeEstimate', uptimeSeconds)
    .date('localTime', now)
  const everything = args.bool('all') === true
  const all = [...(commonSections as readonly StatusSection<Host>[]), ...sections].sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )
  for (const section of all) {
    const wanted = args.bool(section.name) ?? section.byDefault ?? true
    if ((!wanted && !everything) || section.exists?.(host) === false) continue
    writer.startDocument(section.name)
    section.write(writer, host)
    writer.end()
  }
  if (args.bool('mem') !== false) {
    const megabytes = Math.ceil(metrics.heldBytes(host) / bytesPerMegabyte)
    writer
      .startDocument('mem')
      .int32('bits', 64)
      .int32('resident', megabytes)
      .int32('virtual', megabytes)
      .bool('supported', true)
      .end()
  }
  if (args.bool('metrics') === false) return writer
  writer.startDocument('metrics').startDocument('commands')
  host.statistics.writeCommands(writer, host.commandRows.map(({ name }) => name).sort()).end()
  metrics.write(writer, host)
  return writer.end()
}
