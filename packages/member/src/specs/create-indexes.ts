export const createIndexesFields = {
  indexes: 'array!',
  ignoreUnknownIndexOptions: 'bool',
  commitQuorum: 'any',
  returnOnStart: 'bool',
  collectionUUID: 'binary',
} as const
