import type { CommandSpec } from './command-spec.js'
import { onNamespace } from '../access/needs.js'

export const createIndexesSpec = {
  name: 'createIndexes',
  access: 'write',
  privileges: onNamespace('createIndex'),
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
