import type { UnfinishedWork } from '@shardlab/actor'
import type { NodeClients, NodeState } from '@shardlab/node'
import type { WrittenSoFar } from './auto-split/auto-splitter.js'
import type { DdlRecord } from './coordinators/ddl-records.js'
import type { KnownPlacements } from './metadata/placement-state.js'
import type { ScheduledDeletion } from './range-deletion/due-ranges.js'
import type { UnwrittenSamples } from './query-analysis/query-samples.js'
import type { ShardParts } from './shard-parts.js'

/** Immutable; shared by any number of copies. */
export interface ShardState {
  readonly node: NodeState
  readonly placements: KnownPlacements
  readonly rangeDeletions: readonly ScheduledDeletion[]
  readonly written: WrittenSoFar
  readonly samples: UnwrittenSamples | null
}

/** Names protocols with other members, which a copy could not continue. */
export function unfinishedWork({
  node,
  migrations,
  rangeDeleter,
  reshardings,
  ddl,
  coordinators,
}: ShardParts): UnfinishedWork[] {
  const { address } = node.context
  return [
    ...migrations.names().map((what) => ({ what: `${address} ${what}`, isBrief: false })),
    ...[...reshardings.all()].map(({ facts }) => ({
      what: `${address} takes part in the resharding of ${facts.ns}`,
      isBrief: false,
    })),
    ...ddl.records.all().map((record) => ({
      what: `${address} ${workOf(record)}`,
      isBrief: record.operation !== 'movePrimary' && record.operation !== 'receiveDatabase',
    })),
    ...(coordinators.count > 0 || node.transactions.preparedCount > 0
      ? [{ what: `${address} commits a transaction of several shards`, isBrief: true }]
      : []),
    ...rangeDeleter
      .namespacesInProgress()
      .map((ns) => ({ what: `${address} deletes a range of ${ns}`, isBrief: true })),
  ]
}

function workOf(record: DdlRecord): string {
  switch (record.operation) {
    case 'movePrimary':
      return `moves the database ${record.ns} to ${record.to}`
    case 'receiveDatabase':
      return `receives the database ${record.ns} from ${record.from}`
    default:
      return `carries out ${record.operation} on ${record.ns}`
  }
}

export function exportShardState({ node, placements, rangeDeleter, autoSplitter, samples }: ShardParts): ShardState {
  return {
    node: node.exportState(),
    placements: placements.export(),
    rangeDeletions: rangeDeleter.export(),
    written: autoSplitter.export(),
    samples: samples?.export() ?? null,
  }
}

/** Call right after the shard was created. */
export function resumeShard(parts: ShardParts, from: ShardState, clients: NodeClients | null): void {
  parts.node.resume(from.node, clients)
  // A secondary knows of each placement which entries it needs; that is not in the state.
  if (parts.secondary === null) parts.placements.import(from.placements)
  parts.rangeDeleter.import(from.rangeDeletions)
  parts.autoSplitter.import(from.written)
  parts.autoSplitter.start()
  if (from.samples !== null) parts.samples?.import(from.samples)
}
