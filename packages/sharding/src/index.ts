export * from './behaviours/table.js'
export * from './behaviours/versions.js'
export * from './model/chunk.js'
export * from './model/hashed-split-points.js'
export * from './model/placement-version.js'
export * from './model/shard-key-pattern.js'
export * from './model/sharding-command-fields.js'
export * from './routing/bound-list.js'
export * from './routing/ownership-filter.js'
export * from './routing/placement.js'
export * from './routing/placement-history.js'
export * from './routing/routing-table.js'
export {
  leaveAnswer,
  SharedPlacements,
  versionToAskWith,
  wholeAnswer,
  type Sharing,
} from './routing/shared-placements.js'
export * from './routing/targeting.js'
