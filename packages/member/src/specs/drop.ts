import type { CommandSpec } from './command-spec.js'
import { onNamespace } from '../access/needs.js'

export const dropSpec = {
  name: 'drop',
  access: 'write',
  privileges: onNamespace('dropCollection'),
  apiVersion1: true,
  manual: 'reference/command/drop',
  fields: { collectionUUID: 'binary' },
} as const satisfies CommandSpec
