import type { MessageKind } from '../catalogue/index.js'

/**
 * Requests that their sender repeats when it does not know whether the first one arrived: their
 * handlers must tolerate a duplicate, even a concurrent one. Connections never duplicate a message
 * themselves. Commands of clients are not listed: drivers repeat them under transaction numbers.
 */
export const repeatedKinds = [
  'config.commit-create-collection',
  'config.commit-drop-collection',
  'config.commit-drop-collections',
  'config.commit-drop-database',
  'config.commit-move-primary',
  'config.commit-rename-collection',
  'config.ensure-chunk-version-is-greater-than',
  'config.find-chunk',
  'config.get-balancer-settings',
  'config.get-chunks',
  'config.get-collection',
  'config.get-collections',
  'config.get-database',
  'config.get-setting',
  'config.get-shards',
  'config.get-split-settings',
  'config.get-zones',
  'config.mongos-ping',
  'config.resharding-outcome',
  'config.set-allow-migrations',
  'shard.apply-migration-decision',
  'shard.apply-resharding-outcome',
  'shard.block-for-resharding',
  'shard.collection-counts',
  'shard.collection-sizes',
  'shard.data-size',
  'shard.donate-collection',
  'shard.drop-local-collection',
  'shard.drop-local-database',
  'shard.finish-resharding',
  'shard.introduce',
  'shard.migrate-clone',
  'shard.receive-collection',
  'shard.receive-status',
  'shard.release-database',
  'shard.rename-local-collection',
  'shard.resharding-clone',
  'shard.resharding-mods',
  'shard.resharding-status',
  'shard.transfer-mods',
] as const satisfies readonly MessageKind[]
