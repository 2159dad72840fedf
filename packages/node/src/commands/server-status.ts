import type { CommandRow } from '@shardlab/actor'
import { BsonType, findField, stringValue, type DocumentWriter } from '@shardlab/bson'
import { writeServerStatus, type StatusMetrics, type StatusSection, serverStatusSpec } from '@shardlab/member'
import { indexBytes } from '../statistics/storage-stats.js'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'
import { CommitStatistics } from '../transactions/commit-statistics.js'

const sections: readonly StatusSection<NodeHost>[] = [
  {
    name: 'globalLock',
    write(writer, { context, operations, startedAtMs }) {
      const clients = [...operations].filter(({ connectionId }) => connectionId !== 0).length
      writer.int64('totalTime', (context.now() - startedAtMs) * 1000)
      writer.startDocument('currentQueue').int32('total', 0).int32('readers', 0).int32('writers', 0).end()
      writer.startDocument('activeClients').int32('total', clients).int32('readers', 0).int32('writers', 0).end()
    },
  },
  {
    name: 'opcountersRepl',
    write(writer) {
      for (const name of ['insert', 'query', 'update', 'delete', 'getmore', 'command']) writer.int64(name, 0)
    },
  },
  {
    name: 'repl',
    exists: ({ isStandalone }) => !isStandalone,
    write(writer, { set }) {
      set.writeReplStatus(writer)
    },
  },
  {
    name: 'sharding',
    exists: ({ role }) => role.name !== 'mongod',
    write(writer, host) {
      const configServer = configServerOf(host)
      if (configServer !== null) writer.string('configsvrConnectionString', configServer)
      const [seconds, increment] = host.clock.time
      writer.startDocument('lastSeenConfigServerOpTime').timestamp('ts', seconds, increment).int64('t', 1n).end()
      writer.int64('maxChunkSizeInBytes', host.role.chunkSizeBytes?.() ?? host.behaviours.defaultChunkSizeBytes)
    },
  },
  {
    name: 'shardingStatistics',
    exists: ({ role }) => role.name !== 'mongod',
    write(writer, { statistics, role }) {
      writer.int64('countStaleConfigErrors', statistics.staleConfigErrors)
      role.writeShardingStatistics?.(writer)
    },
  },
  {
    name: 'transactions',
    exists: ({ behaviours, isStandalone }) => behaviours.transactions && !isStandalone,
    write(writer, { transactions }, options) {
      const wanted = options === undefined ? undefined : findField(options, 'includeLastCommitted')
      transactions.writeStatistics(writer, options === undefined || wanted?.isTruthy() === true)
    },
  },
  {
    name: 'twoPhaseCommitCoordinator',
    exists: ({ behaviours, isStandalone }) => behaviours.shardedTransactions && !isStandalone,
    write(writer, { role, transactions }) {
      writer.int64('totalCreated', transactions.statistics.coordinatorsCreated)
      if (role.writeCoordinatorStatistics === undefined) new CommitStatistics().write(writer)
      else role.writeCoordinatorStatistics(writer)
    },
  },
  {
    name: 'storageEngine',
    write(writer) {
      writer
        .string('name', 'ephemeralForTest')
        .bool('supportsCommittedReads', true)
        .bool('oldestRequiredTimestampForCrashRecovery', false)
        .bool('persistent', false)
        .bool('readOnly', false)
    },
  },
]

const metrics: StatusMetrics<NodeHost> = {
  heldBytes: ({ engine }) => engine.collections().reduce((sum, each) => sum + each.dataSizeBytes + indexBytes(each), 0),
  write(writer: DocumentWriter, { cursors, statistics, ttl }) {
    let noTimeout = 0
    let pinned = 0
    for (const cursor of cursors) {
      if (cursor.noTimeout) noTimeout++
      if (cursor.waiting !== null) pinned++
    }
    writer
      .startDocument('cursor')
      .int64('timedOut', cursors.timedOutCount)
      .startDocument('open')
      .int64('noTimeout', noTimeout)
      .int64('pinned', pinned)
      .int64('total', cursors.size)
      .end()
      .end()
      .startDocument('document')
    for (const [name, value] of Object.entries(statistics.documents)) writer.int64(name, value)
    const { deletedDocuments, passes } = ttl.counters
    writer.end()
    statistics.queries.write(writer)
    writer.startDocument('ttl').int64('deletedDocuments', deletedDocuments).int64('passes', passes).end()
  },
}

/** null: this is the config server */
function configServerOf(host: NodeHost): string | null {
  const identity = host.collection('admin.system.version')?.findById(stringValue('shardIdentity'))?.document
  const value = identity === undefined ? undefined : findField(identity, 'configsvrConnectionString')
  return value?.type === BsonType.string ? value.asString() : null
}

export const serverStatus: CommandRow<NodeInvocation> = {
  ...serverStatusSpec,
  routing: 'local',
  status: 'partial',
  deviations: ['D700', 'D705', 'D870'],
  lacks:
    'most parts of metrics; sections about locks, flow control, WiredTiger and the operating system, which an emulated member does not have, and those about concerns, elections, index builds and security; durations and estimates of the parts of a resharding',
  summary: 'Reports the state and the counters of the member.',
  run({ args, host }) {
    const { role } = host
    const isAsked = args.bool('sharding') ?? true
    if (!isAsked || role.refreshChunkSize === undefined) return writeServerStatus(host, args, sections, metrics)
    return role.refreshChunkSize().then(() => writeServerStatus(host, args, sections, metrics))
  },
}
