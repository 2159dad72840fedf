import type { CommandSpec } from './command-spec.js'

export const dropIndexesSpec = {
  name: 'dropIndexes',
  aliases: ['deleteIndexes'],
  access: 'write',
  apiVersion1: true,
  manual: 'reference/command/dropIndexes',
  fields: { index: 'any!', collectionUUID: 'binary' },
} as const satisfies CommandSpec
