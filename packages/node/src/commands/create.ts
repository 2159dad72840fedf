import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, FieldIterator, valuesEqual, findField } from '@shardlab/bson'
import { createCollection } from '../crud/namespace.js'
import type { NodeInvocation } from '../invocation.js'

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
  pipeline: 'array',
  collation: 'object',
  changeStreamPreAndPostImages: 'object',
  timeseries: 'object',
  clusteredIndex: 'any',
  expireAfterSeconds: 'any',
  encryptedFields: 'object',
} as const

/** Options that change what a collection does and are not built yet: refused, never ignored. */
const unsupported = [
  'capped',
  'validator',
  'viewOn',
  'pipeline',
  'timeseries',
  'clusteredIndex',
  'expireAfterSeconds',
  'encryptedFields',
  'changeStreamPreAndPostImages',
] as const

/** The options of `create` that are stored. @throws CommandError 72 InvalidOptions for those that are not supported */
export function collectionOptions(invocation: Pick<NodeInvocation, 'args' | 'body'>): Uint8Array {
  const { args, body } = invocation
  for (const name of unsupported) {
    const value = args.value(name)
    if (value !== undefined && value.isTruthy()) throw new CommandError('InvalidOptions', `the field '${name}' of create is not supported`)
  }
  const collation = args.document('collation')
  if (collation !== undefined && findField(collation, 'locale')?.asString() !== 'simple')
    throw new CommandError('InvalidOptions', `the field 'collation' of create is not supported`)
  const writer = new DocumentWriter(128)
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    if (Object.hasOwn(createFields, name) && name !== 'autoIndexId' && name !== 'capped' && name !== 'collation')
      writer.value(name, it.value())
  }
  return writer.finish()
}

export const create: CommandRow<NodeInvocation> = {
  name: 'create',
  routing: 'primary-shard',
  access: 'write',
  manual: 'reference/command/create',
  status: 'partial',
  missing: 'capped, validator, views, time series, clustered index, collation',
  summary: 'Creates a collection.',
  fields: createFields,
  async run(invocation) {
    const { host, args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const entered = host.role.enter(ns, invocation)
    if (entered instanceof Promise) await entered
    const options = collectionOptions(invocation)
    const existing = host.collection(ns)
    if (existing !== undefined) {
      if (!sameOptions(existing.options, options)) throw new CommandError('NamespaceExists', `Collection ${ns} already exists.`)
    } else {
      createCollection(host, ns, options)
      await host.flush()
    }
    return new DocumentWriter(128)
  },
}

function sameOptions(stored: Uint8Array, asked: Uint8Array): boolean {
  for (const name of Object.keys(createFields)) {
    if (name === 'idIndex') continue
    if (!valuesEqual(findField(stored, name), findField(asked, name))) return false
  }
  return true
}
