import type { MessageKind } from '@shardlab/actor'

/**
 * Requests that start something new, which may be refused when the disk is full. Requests that
 * complete earlier work use the reserved space.
 */
const kinds = [
  'config.add-shard',
  'config.add-shard-to-zone',
  'config.clear-jumbo-flag',
  'config.commit-chunk-migration',
  'config.commit-chunk-split',
  'config.commit-chunks-merge',
  'config.commit-create-collection',
  'config.commit-merge-all-chunks',
  'config.commit-refine-shard-key',
  'config.configure-collection-balancing',
  'config.configure-query-analyzer',
  'config.create-database',
  'config.remove-shard',
  'config.remove-shard-from-zone',
  'config.set-allow-migrations',
  'config.set-balancer-mode',
  'config.set-cluster-parameter',
  'config.set-feature-compatibility-version',
  'config.start-resharding',
  'config.track-collection',
  'config.update-zone-key-range',
] as const satisfies readonly MessageKind[]

const set: ReadonlySet<MessageKind> = new Set(kinds)

export function needsRoom(kind: MessageKind): boolean {
  return set.has(kind)
}
