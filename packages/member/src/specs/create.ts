import type { FieldSpecs } from '@shardlab/actor'
import type { CommandSpec } from './command-spec.js'
import { createPrivileges } from '../access/definition-privileges.js'

export const createSpec = {
  name: 'create',
  access: 'write',
  privileges: createPrivileges,
  apiVersion1: true,
  manual: 'reference/command/create',
} as const satisfies CommandSpec

/** Checked by the node; a router forwards the command without checking them. */
export const createFields = {
  capped: 'bool',
  autoIndexId: 'bool',
  idIndex: 'object',
  size: 'number',
  max: 'number',
  storageEngine: 'object',
  validator: 'object',
  validationLevel: 'string',
  validationAction: 'string',
  indexOptionDefaults: 'object',
  viewOn: 'string',
  pipeline: 'pipeline',
  collation: 'object',
  recordPreImages: 'bool',
  changeStreamPreAndPostImages: 'object',
  timeseries: 'object',
  clusteredIndex: 'any',
  expireAfterSeconds: 'number',
  encryptedFields: 'object',
  temp: 'bool',
  flags: 'number',
} as const satisfies FieldSpecs
