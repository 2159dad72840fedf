import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter, emptyDocument, FieldIterator } from '@shardlab/bson'
import { compileFilter } from '@shardlab/query'
import { writeFirstBatch } from '../cursors/cursor-reply.js'
import { listSource } from '../crud/list-source.js'
import { splitNamespace } from '../crud/namespace.js'
import type { NodeInvocation } from '../invocation.js'
import { batchSizeOf } from '../crud/read-arguments.js'

export const listCollections: CommandRow<NodeInvocation> = {
  name: 'listCollections',
  routing: 'primary-shard',
  access: 'read',
  manual: 'reference/command/listCollections',
  status: 'full',
  summary: 'Lists the collections of a database.',
  fields: { filter: 'object', nameOnly: 'bool', authorizedCollections: 'bool', cursor: 'object' },
  async run(invocation) {
    const { host, args, db } = invocation
    const entered = host.role.enter(db, invocation)
    if (entered instanceof Promise) await entered
    const filter = compileFilter(args.document('filter') ?? emptyDocument, host.evaluation())
    const nameOnly = args.bool('nameOnly') ?? false
    const documents = host.engine
      .collections(db)
      .map((collection) => {
        const [, name] = splitNamespace(collection.ns)
        const writer = new DocumentWriter(256).string('name', name).string('type', 'collection')
        if (nameOnly) return writer.finish()
        writer.startDocument('options')
        for (const it = new FieldIterator(collection.options); it.next();)
          if (it.name() !== 'uuid' && it.name() !== 'idIndex') writer.value(it.name(), it.value())
        writer.end().startDocument('info').bool('readOnly', false).uuid('uuid', collection.uuid).end()
        const id = collection.index('_id_')
        if (id !== undefined) writer.document('idIndex', id.spec)
        return writer.finish()
      })
      .filter((document) => filter.matches(document))
    const batchSize = batchSizeOf(args.document('cursor')) ?? Number.POSITIVE_INFINITY
    return writeFirstBatch(invocation, `${db}.$cmd.listCollections`, listSource(documents), {
      batchSize,
      singleBatch: false,
      laterBatchSize: 0,
      noTimeout: false,
    })
  },
}
