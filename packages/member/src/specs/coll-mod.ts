import type { CommandSpec } from './command-spec.js'
import { collModPrivileges } from '../access/definition-privileges.js'

export const collModSpec = {
  name: 'collMod',
  access: 'write',
  privileges: collModPrivileges,
  apiVersion1: true,
  manual: 'reference/command/collMod',
  fields: {
    index: 'object',
    validator: 'object',
    validationLevel: 'string',
    validationAction: 'string',
    viewOn: 'string',
    pipeline: 'pipeline',
    recordPreImages: 'bool',
    changeStreamPreAndPostImages: 'object',
    expireAfterSeconds: 'any',
    timeseries: 'object',
    cappedSize: 'number',
    cappedMax: 'number',
    dryRun: 'bool',
    collectionUUID: 'binary',
  },
} as const satisfies CommandSpec
