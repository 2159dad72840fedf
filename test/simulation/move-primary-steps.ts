/** Steps of a movePrimary at which its originals still exist. */
export const stepsWithOriginals = [
  'shard.move-primary.started',
  'shard.move-primary.batch-sent',
  'shard.move-primary.cloned',
  'shard.move-primary.critical-section',
  'shard.move-primary.committed',
] as const
