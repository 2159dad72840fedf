import type { CommandSpec } from './command-spec.js'
import { onNamedNamespace } from '../access/needs.js'

export const dataSizeSpec = {
  name: 'dataSize',
  aliases: ['datasize'],
  access: 'read',
  privileges: onNamedNamespace('find'),
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
