import type { CommandSpec } from './command-spec.js'

export const dataSizeSpec = {
  name: 'dataSize',
  aliases: ['datasize'],
  access: 'read',
  manual: 'reference/command/dataSize',
  fields: {
    keyPattern: 'object',
    min: 'object',
    max: 'object',
    estimate: 'bool',
    maxSize: 'number',
    maxObjects: 'number',
  },
} as const satisfies CommandSpec
