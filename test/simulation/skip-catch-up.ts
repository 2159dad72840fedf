import { decode, encode, type Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'

/** A new primary of the set does not wait until it knows what the old one has. */
export async function skipCatchUp(cluster: SimulatedCluster, primary: string): Promise<void> {
  const ask = async (command: Document): Promise<Document> =>
    decode(await cluster.command(encode({ ...command, $db: 'admin' }), { to: primary }))
  const { config } = await ask({ replSetGetConfig: 1 })
  const settings = { ...config.settings, catchUpTimeoutMillis: 0 }
  const changed = await ask({ replSetReconfig: { ...config, version: config.version + 1, settings } })
  if (changed['ok'] !== 1) throw new Error(changed['errmsg'] as string)
}
