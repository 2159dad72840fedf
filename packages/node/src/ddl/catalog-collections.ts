/**
 * `system.indexes` and `system.namespaces`, in which 2.6 keeps its catalog. Here they are computed
 * when they are read. Server: database.cpp and index_catalog.cpp of 2.6.
 */
import { CommandError, DocumentWriter, isEmptyDocument } from '@shardlab/bson'
import { formatDocument, formatValue } from '@shardlab/query'
import { listingOf, type Collection } from '@shardlab/storage'
import { splitNamespace, systemIndexes, type ModifyStatement } from '@shardlab/member'
import { withNamespace } from '../commands/list-indexes.js'
import type { CollectionReader } from '../host/node-host.js'
import { listedOptions } from './collection-options.js'

const systemNamespaces = 'system.namespaces'
const noUuid = new Uint8Array(16)

/** Undefined: any other collection, a database without collections, or a version without them. */
export function catalogCollection(host: CollectionReader, ns: string): Collection | undefined {
  if (!host.behaviours.catalogCollections) return undefined
  const [db, name] = splitNamespace(ns)
  if (name !== systemIndexes && name !== systemNamespaces) return undefined
  const collections = host.engine.collections(db)
  if (collections.length === 0) return undefined
  return listingOf(ns, noUuid, name === systemIndexes ? indexes(host, collections) : namespaces(db, collections))
}

function* indexes(host: CollectionReader, collections: readonly Collection[]): Generator<Uint8Array> {
  for (const collection of collections)
    for (const { spec } of collection.indexes()) yield withNamespace(host, collection.ns, spec)
}

function* namespaces(db: string, collections: readonly Collection[]): Generator<Uint8Array> {
  yield new DocumentWriter(64).string('name', `${db}.${systemIndexes}`).finish()
  for (const collection of collections) {
    const { ns } = collection
    const writer = new DocumentWriter(256).string('name', ns)
    const options = listedOptions(collection.options)
    if (!isEmptyDocument(options))
      writer.startDocument('options').string('create', splitNamespace(ns)[1]).fields(options).end()
    yield writer.finish()
    for (const index of collection.indexes())
      yield new DocumentWriter(64).string('name', `${ns}.$${index.name}`).finish()
  }
}

/**
 * Clients may only insert into `system.indexes`. Server: validateUpdate of update.cpp and
 * delete_executor.cpp of 2.6; get_executor.cpp of 4.0.
 * @throws CommandError 10156, 12050
 */
export function refuseCatalogChange({ behaviours }: CollectionReader, ns: string, statement: ModifyStatement): void {
  if (!behaviours.indexesByInsert || splitNamespace(ns)[1] !== systemIndexes) return
  if (statement.kind === 'delete') throw new CommandError(12050, 'cannot delete from system namespace')
  throw new CommandError(
    10156,
    behaviours.catalogCollections
      ? `cannot update system collection: ${ns} q: ${formatDocument(statement.filter)} u: ${formatValue(statement.update)}`
      : `cannot update a system namespace: ${ns}`,
  )
}

/** @throws CommandError 67 CannotCreateIndex */
export function refuseCatalogIndex({ behaviours }: CollectionReader, ns: string): void {
  if (behaviours.catalogCollections && ns.endsWith(`.${systemIndexes}`) && splitNamespace(ns)[1] === systemIndexes)
    throw new CommandError('CannotCreateIndex', 'cannot create indexes on the system.indexes collection')
}
