import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter, emptyDocument } from '@shardlab/bson'
import { compileFilter } from '@shardlab/query'
import type { Collection } from '@shardlab/storage'
import { authorizedFilter, listSource, splitNamespace, batchSizeOf, listCollectionsSpec } from '@shardlab/member'
import { listedOptions } from '../ddl/collection-options.js'
import { writeFirstListBatch } from '../cursors/cursor-reply.js'
import { collectionsAndOplog } from '../log/oplog-collection.js'
import { viewsOf } from '../views/view-catalog.js'
import { withNamespace } from './list-indexes.js'
import type { ViewDefinition } from '../views/view-definition.js'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'

export const listCollections: CommandRow<NodeInvocation> = {
  ...listCollectionsSpec,
  routing: 'primary-shard',
  status: 'full',
  summary: 'Lists the collections and views of a database.',
  async run(invocation) {
    const { host, args, db } = invocation
    await host.role.enter(db, invocation)
    const filter = compileFilter(
      authorizedFilter(invocation, args.document('filter') ?? emptyDocument),
      host.evaluation(),
    )
    const nameOnly = args.bool('nameOnly') ?? false
    const entries = [
      ...collectionsAndOplog(host, db).map((collection) => collectionEntry(host, collection, nameOnly)),
      ...viewsOf(host, db).map((view) => viewEntry(view, nameOnly)),
    ]
    const batchSize = batchSizeOf(args) ?? Number.POSITIVE_INFINITY
    const source = listSource(entries.filter((entry) => filter.matches(entry)))
    return writeFirstListBatch(invocation, `${db}.$cmd.listCollections`, source, {
      batchSize,
      singleBatch: false,
      noTimeout: false,
    })
  },
}

function collectionEntry(host: NodeHost, collection: Collection, nameOnly: boolean): Uint8Array {
  const writer = new DocumentWriter(256).string('name', splitNamespace(collection.ns)[1]).string('type', 'collection')
  if (nameOnly) return writer.finish()
  writer.document('options', listedOptions(collection.options))
  writer.startDocument('info').bool('readOnly', false).uuid('uuid', collection.uuid).end()
  const id = collection.index('_id_')
  if (id !== undefined) writer.document('idIndex', withNamespace(host, collection.ns, id.spec))
  return writer.finish()
}

function viewEntry(view: ViewDefinition, nameOnly: boolean): Uint8Array {
  const writer = new DocumentWriter(256).string('name', splitNamespace(view.ns)[1]).string('type', 'view')
  if (nameOnly) return writer.finish()
  writer.startDocument('options').string('viewOn', view.viewOn).documents('pipeline', view.pipeline)
  if (view.collation !== null) writer.document('collation', view.collation)
  return writer.end().startDocument('info').bool('readOnly', true).end().finish()
}
