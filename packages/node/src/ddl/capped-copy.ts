/** Server: cloneCollectionAsCapped in capped_utils.cpp. */
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { cappedSizeBytes, type Collection } from '@shardlab/storage'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'
import { refuseView } from '../views/refuse-view.js'
import { createCollection } from './namespace.js'

/**
 * Copies the newest documents that fit, in insertion order, with no index except that of `_id`.
 * Call {@link NodeHost.flush} afterwards.
 * @throws CommandError 14031 OutOfDiskSpace, before anything has changed
 */
export function copyAsCapped(
  node: NodeHost,
  source: Collection,
  target: string,
  size: number,
  temporary: boolean,
): Collection {
  const documents = newestOf(source, cappedSizeBytes(size))
  node.requireRoom(
    documents.reduce((sum, { length }) => sum + length, 0),
    documents.length + 1,
  )
  const writer = new DocumentWriter(128).bool('capped', true)
  writer.integer('size', cappedSizeBytes(size))
  if (temporary) writer.bool('temp', true)
  const collation = source.defaultCollation
  if (collation !== null) writer.document('collation', collation)
  const copy = createCollection(node, target, writer.finish())
  for (const object of documents)
    node.apply({ op: 'i', ns: target, uuid: copy.uuid, object, id: findField(object, '_id')!, session: null })
  return copy
}

function newestOf(source: Collection, sizeBytes: number): Uint8Array[] {
  const documents: Uint8Array[] = []
  let bytesTooMany = source.dataSizeBytes - sizeBytes
  const scan = source.scan()
  for (let record = scan.next(); record !== null; record = scan.next()) {
    if (bytesTooMany > 0) bytesTooMany -= record.document.length
    else documents.push(record.document)
  }
  return documents
}

/** @throws CommandError 26 NamespaceNotFound, 166 for a view */
export function sourceOfCopy({ host }: NodeInvocation, ns: string): Collection {
  const source = host.collection(ns)
  if (source !== undefined) return source
  refuseView(host, ns)
  throw new CommandError('NamespaceNotFound', `source collection ${ns} does not exist`)
}

/** In bytes. @throws CommandError 72 InvalidOptions */
export function cappedSizeOf({ args }: NodeInvocation): number {
  // Clamped: infinity is accepted too.
  const size = Math.min(Math.trunc(args.number('size')!), Number.MAX_SAFE_INTEGER)
  if (size <= 0) throw new CommandError('InvalidOptions', 'Capped collection size must be greater than zero')
  return size
}
