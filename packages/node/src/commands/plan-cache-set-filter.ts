import type { CommandArguments, CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, elementsOf, emptyDocument, isEmptyDocument } from '@shardlab/bson'
import { checkShape, planCacheSetFilterSpec } from '@shardlab/member'
import type { Behaviours } from '@shardlab/sharding'
import type { NodeInvocation } from '../host/node-host.js'
import { shapeArgument } from '../read/shape-argument.js'

/** Server: index_filter_commands.cpp. */
export const planCacheSetFilter: CommandRow<NodeInvocation> = {
  ...planCacheSetFilterSpec,
  routing: 'all-shards',
  status: 'full',
  summary: 'Sets the only indexes that plans for a query shape may use, until the member restarts.',
  async run(invocation) {
    const { host, args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    await host.role.enter(ns, invocation)
    const collection = host.collection(ns)
    if (collection === undefined) throw new CommandError('BadValue', 'no such collection')
    const indexes = indexesOf(args, host.behaviours)
    if (!args.has('query')) throw new CommandError('BadValue', 'required field query missing')
    checkShape(args)
    const { shape, strings } = shapeArgument(host, args, collection)
    // The arguments are views of the message.
    const kept = (name: string): Uint8Array => args.document(name)?.slice() ?? emptyDocument
    collection.indexFilters.set(shape, strings, {
      query: kept('query'),
      sort: kept('sort'),
      projection: kept('projection'),
      collation: kept('collation'),
      indexes,
    })
    return new DocumentWriter(256)
  },
}

/** @throws CommandError 2 BadValue */
function indexesOf(args: CommandArguments, { indexFiltersNameIndexes }: Behaviours): (Uint8Array | string)[] {
  const value = args.value('indexes')
  const fail = (message: string) => new CommandError('BadValue', message)
  if (value === undefined) throw fail('required field indexes missing')
  if (value.type !== BsonType.array) throw fail('required field indexes must be an array')
  const elements = elementsOf(value)
  if (elements.length === 0) throw fail('required field indexes must contain at least one index')
  return elements.map((element) => {
    if (element.type === BsonType.string && indexFiltersNameIndexes) return element.asString()
    if (element.type !== BsonType.object)
      throw fail(`each item in indexes must be an object${indexFiltersNameIndexes ? ' or string' : ''}`)
    const key = element.slice()
    if (isEmptyDocument(key)) throw fail('index specification cannot be empty')
    return key
  })
}
