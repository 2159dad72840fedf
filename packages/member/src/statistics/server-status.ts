/** Server: server_status_command.cpp. Manual: reference/command/serverStatus. */
import { clientConnectionsMax, type CommandArguments } from '@shardlab/actor'
import { BsonType, DocumentWriter } from '@shardlab/bson'
import type { MemberHost } from '../member-host.js'

export interface StatusSection<Host extends MemberHost> {
  readonly name: string
  /** Whether the reply has the section unless the client excludes it. Default true. */
  readonly byDefault?: boolean
  /** Default true. */
  exists?(host: Host): boolean
  /**
   * The document of the section is open.
   * @param options the document that the client gave for this section; undefined: none
   */
  write(writer: DocumentWriter, host: Host, options: Uint8Array | undefined): void
}

const bytesPerMegabyte = 1024 * 1024

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
    write(writer, { connections, operations, context }) {
      const { connectionsMax = clientConnectionsMax, rejectedConnections = 0 } = context.port() ?? {}
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
        .int32('rejected', rejectedConnections)
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
    write: (writer, { context }) =>
      void writer.string('note', 'fields vary by platform').int64('page_faults', context.pageFaults()),
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
    name: 'security',
    exists: ({ context }) => context.tls() !== null,
    write(writer, { context }) {
      const { subject, hasCertificateAuthority, expiresAtMs } = context.tls()!
      writer
        .string('SSLServerSubjectName', subject)
        .bool('SSLServerHasCertificateAuthority', hasCertificateAuthority)
        .date('SSLServerCertificateExpirationDate', expiresAtMs)
    },
  },
  {
    name: 'transportSecurity',
    exists: ({ behaviours }) => behaviours.transportSecurityStatistics,
    write(writer, { context }) {
      for (const version of ['1.0', '1.1', '1.2', '1.3', 'unknown'])
        writer.int64(version, context.tls()?.connections.get(version) ?? 0)
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

/** The parts at the end of the reply: `mem` and `metrics`. */
export interface StatusMetrics<Host extends MemberHost> {
  /** Bytes of data that the member stores. */
  heldBytes(host: Host): number
  /** Appends the part of `metrics` that depends on the role, by name. */
  write(writer: DocumentWriter, host: Host): void
}

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
    const option = args.value(section.name)
    section.write(writer, host, option?.type === BsonType.object ? option.slice() : undefined)
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
