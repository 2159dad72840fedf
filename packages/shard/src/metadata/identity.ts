/** Who this shard is, and how much it holds. */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { DocumentWriter, emptyDocument, findField } from '@shardlab/bson'
import { createCollection } from '@shardlab/node'
import type { ShardHandlers, ShardParts } from '../shard-parts.js'

export const identityHandlers: ShardHandlers<'shard.initialise' | 'shard.data-size'> = {
  'shard.initialise': initialise,
  'shard.data-size': dataSize,
}

/** Stores who this shard is, where the server keeps it: admin.system.version, `shardIdentity`. */
async function initialise(
  { node }: ShardParts,
  { clusterId, configHost }: RequestOf<'shard.initialise'>,
): Promise<ReplyOf<'shard.initialise'>> {
  const ns = 'admin.system.version'
  const collection = node.collection(ns) ?? createCollection(node, ns, emptyDocument)
  const identity = new DocumentWriter()
    .string('_id', 'shardIdentity')
    .string('shardName', node.context.address)
    .objectId('clusterId', clusterId)
    .string('configsvrConnectionString', configHost)
    .finish()
  const id = findField(identity, '_id')!
  if (collection.findById(id) === undefined) node.apply({ op: 'i', ns, uuid: collection.uuid, object: identity, id, session: null })
  await node.flush()
  return {}
}

function dataSize({ node }: ShardParts): ReplyOf<'shard.data-size'> {
  return {
    sizeBytes: node.engine
      .collections()
      .filter(({ ns }) => !/^(?:admin|config|local)\./.test(ns))
      .reduce((sum, collection) => sum + collection.dataSizeBytes, 0),
  }
}
