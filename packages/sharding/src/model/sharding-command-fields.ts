/**
 * The fields of commands that both a router and another member check, with the type names of the
 * argument parser. Server: shard_collection.idl, reshard_collection.idl.
 */
export const shardCollectionFields = {
  key: 'object',
  unique: 'strictBool',
  numInitialChunks: 'number',
  presplitHashedZones: 'strictBool',
  collation: 'object',
  timeseries: 'object',
  enforceUniquenessCheck: 'strictBool',
  implicitlyCreateIndex: 'strictBool',
  collectionUUID: 'binary',
} as const

/** The fields that the config server receives too. */
export const reshardCollectionFields = {
  key: 'object!',
  unique: 'bool',
  numInitialChunks: 'number',
  collation: 'object',
  zones: 'array',
  _presetReshardedChunks: 'array',
  forceRedistribution: 'bool',
  shardDistribution: 'array',
} as const
