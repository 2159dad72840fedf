import type { CommandSpec } from './command-spec.js'

export const createIndexesSpec = {
  name: 'createIndexes',
  access: 'write',
  apiVersion1: true,
  manual: 'reference/command/createIndexes',
  fields: {
    indexes: 'array!',
    ignoreUnknownIndexOptions: 'bool',
    commitQuorum: 'any',
    returnOnStart: 'bool',
    collectionUUID: 'binary',
  },
} as const satisfies CommandSpec
