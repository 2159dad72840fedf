import { configAddress, RequestFailedError } from '@shardlab/actor'
import { connectionStringOf, retryUntilDone, type NodeHost } from '@shardlab/node'
import { hasIdentity } from './identity.js'

/**
 * The catalog shows the members of each shard's set. Server: replica_set_monitor.cpp,
 * sharding_initialization (onConfirmedSet).
 */
export function reportHosts(node: NodeHost): void {
  if (!hasIdentity(node)) return
  const report = async (): Promise<void> => {
    const request = { setName: node.role.setName, connectionString: connectionStringOf(node) }
    await node.context.request(configAddress, 'config.update-shard-host', request)
  }
  node.context.detach(retryUntilDone(node, report).catch(unlessStopped))
}

/** The node shuts down: the next primary reports. */
function unlessStopped(error: unknown): void {
  if (!(error instanceof RequestFailedError)) throw error
}
