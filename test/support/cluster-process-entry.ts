/** A cluster in a process of its own, which reports its memory to its parent. */
import { ShardedCluster } from 'shardlab'

const cluster = await ShardedCluster.start({ shards: 3 })
process.on('message', () => void cluster.memory().then((memory) => process.send!(memory)))
process.on('disconnect', () => process.exit())
process.send!(cluster.uri)
