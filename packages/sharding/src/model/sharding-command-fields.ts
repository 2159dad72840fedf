/**
 * The fields of commands that a router checks first and another member again, with their types as the parser of arguments names them.
 * Server: shard_collection.idl, reshard_collection.idl.
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

/** What the config server gets of it, too. */
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
