import { configAddress } from '@shardlab/actor'
import type { NodeHost } from '@shardlab/node'
import { hasIdentity } from './identity.js'

/** For direct connections to a shard. Server: keys_collection_client_sharded.cpp. */
export async function fetchTimeKeys(node: NodeHost): Promise<readonly Uint8Array[]> {
  if (!hasIdentity(node)) return []
  return (await node.context.request(configAddress, 'config.get-time-keys', {})).keys
}
