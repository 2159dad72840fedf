/** Server: cloner.cpp. */
import type { PrimaryMove, RequestOf, ReplyOf } from '@shardlab/actor'
import { CommandError, findField, sameBytes } from '@shardlab/bson'
import { databaseNameOf } from '@shardlab/member'
import { catchUpKeys, isIdIndex, raiseError, type NodeHost } from '@shardlab/node'
import type { ShardHost } from '../../host/host.js'
import type { DdlCoordinators } from '../ddl-coordinators.js'

const batchDocumentsMax = 1_000
const batchBytesMax = 1024 * 1024

export interface Copying {
  readonly move: PrimaryMove
  readonly to: string
}

/**
 * Keeps the UUID. Nothing may change the collection during the copy.
 * @throws CommandError of the recipient
 */
export async function copyCollection(node: NodeHost, ns: string, { move, to }: Copying): Promise<void> {
  const { context } = node
  const { uuid, options, indexes } = describe(node, ns)
  // The version of the index on _id cannot change later.
  const first = { ns, uuid, options, indexes: indexes.filter(isIdIndex), move }
  raiseError((await context.request(to, 'shard.create-local-collection', first)).error)
  await catchUpKeys(node, null, node.collection(ns))
  const scan = node.collection(ns)!.snapshot().scan()
  let batch: Uint8Array[] = []
  let bytes = 0
  const send = async () => {
    raiseError((await context.request(to, 'shard.receive-documents', { ns, uuid, documents: batch, move })).error)
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
  raiseError((await context.request(to, 'shard.create-local-collection', { ns, uuid, options, indexes, move })).error)
}

/**
 * The new primary shard needs a copy of each sharded collection, possibly an empty one.
 * @throws CommandError of the recipient
 */
export async function createEmptyCopy(node: NodeHost, ns: string, { move, to }: Copying): Promise<void> {
  const request = { ns, ...describe(node, ns), move }
  raiseError((await node.context.request(to, 'shard.create-local-collection', request)).error)
}

function describe(node: NodeHost, ns: string): Omit<RequestOf<'shard.create-local-collection'>, 'ns' | 'move'> {
  const collection = node.collection(ns)!
  return { uuid: collection.uuid, options: collection.options, indexes: collection.indexes().map(({ spec }) => spec) }
}

interface CopyHost extends ShardHost {
  readonly ddl: Pick<DdlCoordinators, 'receivedMoves'>
}

export async function receiveDocuments(
  { node, ddl }: CopyHost,
  { ns, uuid, documents, move }: RequestOf<'shard.receive-documents'>,
): Promise<ReplyOf<'shard.receive-documents'>> {
  ddl.receivedMoves.admit(databaseNameOf(ns), move)
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
