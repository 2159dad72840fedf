/** Server: cloner.cpp. */
import type { RequestOf, ReplyOf } from '@shardlab/actor'
import { CommandError, findField, sameBytes } from '@shardlab/bson'
import { raiseError, type NodeHost } from '@shardlab/node'
import type { ShardHost } from '../../host/host.js'

const batchDocumentsMax = 1_000
const batchBytesMax = 1024 * 1024

/**
 * Keeps the UUID. Nothing may change the collection during the copy.
 * @throws CommandError of the recipient
 */
export async function copyCollection(node: NodeHost, ns: string, to: string): Promise<void> {
  const { context } = node
  const { uuid, options, indexes } = describe(node, ns)
  raiseError((await context.request(to, 'shard.create-local-collection', { ns, uuid, options, indexes: [] })).error)
  const scan = node.collection(ns)!.snapshot().scan()
  let batch: Uint8Array[] = []
  let bytes = 0
  const send = async () => {
    raiseError((await context.request(to, 'shard.receive-documents', { ns, uuid, documents: batch })).error)
    await context.reach('shard.move-primary.batch-sent', { ns, to })
    batch = []
    bytes = 0
  }
  for (let record = scan.next(); record !== null; record = scan.next()) {
    if (batch.length > 0 && (batch.length >= batchDocumentsMax || bytes + record.document.length > batchBytesMax))
      await send()
    batch.push(record.document)
    bytes += record.document.length
  }
  if (batch.length > 0) await send()
  raiseError((await context.request(to, 'shard.create-local-collection', { ns, uuid, options, indexes })).error)
}

/**
 * The new primary shard needs a copy of each sharded collection, possibly an empty one.
 * @throws CommandError of the recipient
 */
export async function createEmptyCopy(node: NodeHost, ns: string, to: string): Promise<void> {
  raiseError((await node.context.request(to, 'shard.create-local-collection', { ns, ...describe(node, ns) })).error)
}

function describe(node: NodeHost, ns: string): Omit<RequestOf<'shard.create-local-collection'>, 'ns'> {
  const collection = node.collection(ns)!
  return { uuid: collection.uuid, options: collection.options, indexes: collection.indexes().map(({ spec }) => spec) }
}

export async function receiveDocuments(
  { node }: ShardHost,
  { ns, uuid, documents }: RequestOf<'shard.receive-documents'>,
): Promise<ReplyOf<'shard.receive-documents'>> {
  const collection = node.collection(ns)
  if (collection === undefined || !sameBytes(collection.uuid, uuid))
    throw new CommandError('NamespaceNotFound', `Collection ${ns} is not being copied here`)
  node.requireRoom(
    documents.reduce((sum, { length }) => sum + length, 0),
    documents.length,
  )
  for (const document of documents) {
    // The bytes of the message belong to its packet.
    const object = document.slice()
    node.apply({
      ...{ op: 'i', ns, uuid: collection.uuid, object, id: findField(object, '_id')!, session: null },
      fromMigrate: true,
    })
  }
  await node.flushToMajority()
  return { error: null }
}
