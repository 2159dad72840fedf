import { DocumentWriter } from '@shardlab/bson'
import { announceSharding, type NodeHost } from '@shardlab/node'
import { parseShardCollection } from './shard-collection-request.js'

/**
 * Tells change streams that a collection is sharded. Server: notifyChangeStreamsOnShardCollection.
 * @param body of the command, which has been accepted
 */
export function announceSharded(node: NodeHost, ns: string, uuid: Uint8Array, body: Uint8Array): void {
  const request = parseShardCollection(node.behaviours, ns, body, Number.POSITIVE_INFINITY)
  const { shardKey, unique, numInitialChunks, presplitHashedZones } = request
  const description = new DocumentWriter(128)
    .document('shardKey', shardKey.document)
    .bool('unique', unique)
    .int64('numInitialChunks', numInitialChunks)
    .bool('presplitHashedZones', presplitHashedZones)
  announceSharding(node, { ns, uuid }, 'shardCollection', description.finish())
}
