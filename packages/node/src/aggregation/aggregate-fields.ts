/** Arguments of aggregate, as the command table checks them. */
export const aggregateFields = {
  pipeline: 'array!',
  cursor: 'any',
  explain: 'bool',
  allowDiskUse: 'bool',
  bypassDocumentValidation: 'bool',
  collation: 'object',
  hint: 'string|object',
  let: 'object',
  collectionUUID: 'binary',
  needsMerge: 'bool',
  fromMongos: 'bool',
  fromRouter: 'bool',
  isMapReduceCommand: 'bool',
  runtimeConstants: 'object',
} as const
