import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { Collection } from '@shardlab/storage'
import { copyAsCapped } from '../crud/capped-copy.js'
import { renameLocalCollection } from '../crud/rename.js'
import type { NodeInvocation } from '../invocation.js'
import { refuseView } from '../views/refuse-view.js'

export const convertToCappedFields = { size: 'number!' } as const

export const convertToCapped: CommandRow<NodeInvocation> = {
  name: 'convertToCapped',
  routing: 'primary-shard',
  access: 'write',
  manual: 'reference/command/convertToCapped',
  status: 'full',
  summary: 'Turns a collection into a capped one with its newest documents and no indexes but that of _id.',
  fields: convertToCappedFields,
  async run(invocation) {
    const { host, args, db } = invocation
    const name = args.collectionName(db)
    const ns = `${db}.${name}`
    const entered = host.role.enter(ns, invocation)
    if (entered instanceof Promise) await entered
    const source = sourceOf(invocation, ns)
    const size = sizeOf(invocation)
    const suffix = host.context.random.fork('convert-to-capped').fraction().toString(36).slice(2, 7).padEnd(5, '0')
    const copy = copyAsCapped(host, source, `${db}.tmp${suffix}.convertToCapped.${name}`, size)
    renameLocalCollection(host, copy, ns)
    await host.flush()
    return new DocumentWriter(128)
  },
}

export const cloneCollectionAsCappedFields = { toCollection: 'string!', size: 'number!', temp: 'bool' } as const

export const cloneCollectionAsCapped: CommandRow<NodeInvocation> = {
  name: 'cloneCollectionAsCapped',
  routing: 'primary-shard',
  access: 'write',
  manual: 'reference/command/cloneCollectionAsCapped',
  status: 'full',
  summary: 'Makes a capped collection with the newest documents of another one.',
  fields: cloneCollectionAsCappedFields,
  async run(invocation) {
    const { host, args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const target = `${db}.${args.string('toCollection')!}`
    const entered = host.role.enter(ns, invocation)
    if (entered instanceof Promise) await entered
    const source = sourceOf(invocation, ns)
    const size = sizeOf(invocation)
    if (host.collection(target) !== undefined)
      throw new CommandError('NamespaceExists', `cloneCollectionAsCapped failed - destination collection ${target} already exists.`)
    copyAsCapped(host, source, target, size)
    await host.flush()
    return new DocumentWriter(128)
  },
}

function sourceOf({ host }: NodeInvocation, ns: string): Collection {
  const source = host.collection(ns)
  if (source !== undefined) return source
  refuseView(host, ns)
  throw new CommandError('NamespaceNotFound', `source collection ${ns} does not exist`)
}

function sizeOf({ args }: NodeInvocation): number {
  const size = Math.trunc(args.number('size')!)
  if (size <= 0) throw new CommandError('InvalidOptions', 'Capped collection size must be greater than zero')
  return size
}
