/**
 * A process that imports the API as it is installed, starts a cluster in its own thread, and
 * inserts a document with the driver. With a URI as its argument: the same without a cluster.
 */
import { MongoClient } from 'mongodb'

const uri = process.argv[2]
const program = '../../../../packages/shardlab/dist/bundle/index.js'
const { ShardedCluster } =
  uri === undefined ? ((await import(program)) as typeof import('shardlab')) : { ShardedCluster: null }
const cluster = ShardedCluster === null ? null : await ShardedCluster.start({ shards: 3, runtime: 'inline' })
const client = await MongoClient.connect(uri ?? cluster!.uri)
await client.db('test').collection('c').insertOne({ n: 1 })
await client.close()
await cluster?.stop()
