import type { CommandSpec } from './command-spec.js'
import { onNamespace } from '../access/needs.js'

export const dropIndexesSpec = {
  name: 'dropIndexes',
  aliases: ['deleteIndexes'],
  access: 'write',
  privileges: onNamespace('dropIndex'),
  apiVersion1: true,
  manual: 'reference/command/dropIndexes',
  fields: { index: 'any!', collectionUUID: 'binary' },
} as const satisfies CommandSpec
