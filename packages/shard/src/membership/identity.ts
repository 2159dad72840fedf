import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { CommandError, DocumentWriter, emptyDocument, findField } from '@shardlab/bson'
import { databaseNameOf } from '@shardlab/member'
import { createCollection, type NodeHost } from '@shardlab/node'
import { internalDatabases } from '@shardlab/query'
import type { ShardHandlers } from '../host/handlers.js'
import type { ShardHost } from '../host/host.js'

export const identityHandlers: ShardHandlers<'shard.initialise' | 'shard.relocate' | 'shard.data-size', ShardHost> = {
  'shard.initialise': initialise,
  'shard.relocate': relocate,
  'shard.data-size': dataSize,
}

const identityNs = 'admin.system.version'
const identityFilter = new DocumentWriter().string('_id', 'shardIdentity').finish()

/** False on a new disk. */
export function hasIdentity(node: NodeHost): boolean {
  return node.collection(identityNs)?.findById(findField(identityFilter, '_id')!) !== undefined
}

/** Server: sharding_state.cpp, assertCanAcceptShardedCommands. */
export function refuseWithoutIdentity(): never {
  throw new CommandError(
    'ShardingStateNotInitialized',
    'Cannot accept sharding commands if sharding state has not been initialized with a shardIdentity document',
  )
}

/** The server, too, stores it in admin.system.version, as `shardIdentity`. */
async function initialise(
  { node }: ShardHost,
  { clusterId, configHost }: RequestOf<'shard.initialise'>,
): Promise<ReplyOf<'shard.initialise'>> {
  const ns = identityNs
  const collection = node.collection(ns) ?? createCollection(node, ns, emptyDocument)
  const identity = identityDocument(node.context.address, clusterId, configHost)
  const id = findField(identity, '_id')!
  if (collection.findById(id) === undefined)
    node.apply({ op: 'i', ns, uuid: collection.uuid, object: identity, id, session: null })
  await node.flush()
  return {}
}

/** The config server of a copied cluster has another address. */
async function relocate(
  { node }: ShardHost,
  { configHost }: RequestOf<'shard.relocate'>,
): Promise<ReplyOf<'shard.relocate'>> {
  const id = findField(identityFilter, '_id')!
  const collection = node.collection(identityNs)
  const known = collection?.findById(id)?.document
  if (collection === undefined || known === undefined) return {}
  const identity = identityDocument(node.context.address, findField(known, 'clusterId')!.slice(), configHost)
  node.apply({ op: 'u', ns: identityNs, uuid: collection.uuid, object: identity, id, session: null })
  await node.flush()
  return {}
}

function identityDocument(shard: string, clusterId: Uint8Array, configHost: string): Uint8Array {
  return new DocumentWriter()
    .string('_id', 'shardIdentity')
    .string('shardName', shard)
    .objectId('clusterId', clusterId)
    .string('configsvrConnectionString', configHost)
    .finish()
}

function dataSize({ node }: ShardHost): ReplyOf<'shard.data-size'> {
  return {
    sizeBytes: node.engine
      .collections()
      .filter(({ ns }) => !internalDatabases.has(databaseNameOf(ns)))
      .reduce((sum, collection) => sum + collection.dataSizeBytes, 0),
  }
}
