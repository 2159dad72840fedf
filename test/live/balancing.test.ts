/**
 * A collection on one shard is balanced over three while clients read and write through two
 * mongoses. `SHARDLAB_LONG=1` uses 200,000 documents and chunks of 256 KB.
 */
import { MongoClient, type Collection } from 'mongodb'
import { ShardedCluster, type BalancerRoundEvent, type MigrationEvent } from 'shardlab'
import t, { type Test } from 'tap'
import { mongoshOn } from '../support/mongosh.js'
import { onHosts } from '../support/on-hosts.js'

const isLong = process.env['SHARDLAB_LONG'] === '1'
const count = isLong ? 200_000 : 1200
const chunkSize = isLong ? '256KB' : '64KB'
const clientsOfAKind = isLong ? 4 : 2

interface Doc {
  _id: number
  k: number
  n: number
  pad: string
}

const pad = 'x'.repeat(450)

/** Acknowledged writes: the value of `n` that each document must have, or that it is deleted. */
type Acknowledged = Map<number, number | 'gone'>

class Traffic {
  readonly acknowledged: Acknowledged = new Map()
  readonly problems: string[] = []
  private isWorking = true

  stop(): void {
    this.isWorking = false
  }

  /**
   * Increments, inserts and deletes documents for which `_id % clients` is this client's number.
   */
  async write(collection: Collection<Doc>, number: number): Promise<void> {
    let nextId = count + number
    for (let i = number; this.isWorking; i += clientsOfAKind) {
      const _id = i % count
      const known = this.acknowledged.get(_id) ?? 0
      if (i % 5 === 0 && known !== 'gone') {
        const { deletedCount } = await collection.deleteOne({ k: _id })
        if (deletedCount !== 1) this.problems.push(`a delete of ${_id} found ${deletedCount}`)
        this.acknowledged.set(_id, 'gone')
      } else if (known !== 'gone') {
        const { modifiedCount } = await collection.updateOne({ k: _id }, { $inc: { n: 1 } })
        if (modifiedCount !== 1) this.problems.push(`an update of ${_id} changed ${modifiedCount}`)
        this.acknowledged.set(_id, known + 1)
      }
      // Without this limit the collection would grow as fast as it is balanced.
      if (i % 6 > 0) continue
      await collection.insertOne({ _id: nextId, k: nextId, n: 0, pad })
      this.acknowledged.set(nextId, 0)
      nextId += clientsOfAKind
    }
  }

  /**
   * Finds by key, and sometimes reads the whole collection: each document that no client writes
   * occurs once.
   */
  async read(collection: Collection<Doc>, number: number): Promise<void> {
    for (let i = number; this.isWorking; i += 7) {
      const wanted = count - 1 - (i % 100)
      const found = await collection.find({ k: wanted }).toArray()
      if (found.length > 1) this.problems.push(`${wanted} was read ${found.length} times`)
      if (found.length === 0 && this.acknowledged.get(wanted) !== 'gone') this.problems.push(`${wanted} was not found`)
      if (number > 0 || i % 210 !== 0) continue
      const seen = new Set<number>()
      for await (const { _id } of collection.find({}, { projection: { _id: 1 }, batchSize: 500 })) {
        if (seen.has(_id)) this.problems.push(`a scan gave ${_id} twice`)
        seen.add(_id)
      }
      for (let _id = 0; _id < count; _id++)
        if (!seen.has(_id) && this.acknowledged.get(_id) !== 'gone') this.problems.push(`a scan missed ${_id}`)
    }
  }
}

async function fill(collection: Collection<Doc>): Promise<void> {
  for (let from = 0; from < count; from += 400) {
    const documents = Array.from({ length: 400 }, (_, i) => ({ _id: from + i, k: from + i, n: 0, pad }))
    await collection.insertMany(documents, { ordered: false })
  }
}

interface Chunk {
  min: { k: unknown }
  max: { k: unknown }
  shard: string
}

/**
 * The chunks of the collection, the documents that each shard holds in its own ranges, and the
 * documents of all shards together.
 */
async function ownership(
  t: Test,
  cluster: ShardedCluster,
  client: MongoClient,
): Promise<{ chunks: Chunk[]; held: Map<string, number> }> {
  const config = client.db('config')
  const { uuid } = (await config.collection<{ _id: string }>('collections').findOne({ _id: 'app.c' })) as unknown as {
    uuid: unknown
  }
  // Before 5.0 chunks have their collection's name.
  const chunks = await config
    .collection<Chunk>('chunks')
    .find({ $or: [{ ns: 'app.c' }, { uuid }] } as object)
    .toArray()
  const held = new Map<string, number>()
  for (const { id, uri } of cluster.shards) {
    const direct = await MongoClient.connect(uri)
    const collection = direct.db('app').collection('c')
    const all = await collection.countDocuments()
    let owned = 0
    for (const { min, max } of chunks.filter(({ shard }) => shard === id))
      owned += await collection.countDocuments({ k: { $gte: min.k, $lt: max.k } })
    await direct.close()
    t.equal(all, owned, `${id} holds exactly what it owns`)
    held.set(id, all)
  }
  return { chunks, held }
}

/** Reports of the cluster agree with its data. */
async function reportsAgree(
  t: Test,
  cluster: ShardedCluster,
  client: MongoClient,
  chunks: Chunk[],
  held: Map<string, number>,
): Promise<void> {
  const stats = client
    .db('app')
    .collection('c')
    .aggregate<{ shard: string; count: number }>([{ $collStats: { count: {} } }])
  for await (const { shard, count: counted } of stats) t.equal(counted, held.get(shard), `$collStats on ${shard}`)
  if (!isLong) return
  const evaluate = mongoshOn(cluster.uri)
  if (evaluate === null) return
  const { stdout } = await evaluate('sh.status()')
  const printed = stdout.slice(stdout.indexOf("'app.c'"))
  for (const { id } of cluster.shards) {
    const own = chunks.filter(({ shard }) => shard === id).length
    t.match(printed, new RegExp(`shard: '${id}', nChunks: ${own} `), `sh.status() about ${id}`)
  }
}

async function balance(t: Test, emulate: '4.4' | '7.0'): Promise<void> {
  const cluster = await ShardedCluster.start(
    onHosts({ shards: 3, mongos: 2, runtime: 'inline', emulate, chunkSize, balancerRoundIntervalMs: 100_000 }),
  )
  // Teardowns run in reverse order: a client that closes after its cluster has stopped may look for
  // it for 30 s.
  t.teardown(() => cluster.stop())
  const clients = await Promise.all(
    cluster.mongos.map((host) => MongoClient.connect(`mongodb://${host}/?directConnection=true`)),
  )
  t.teardown(() => Promise.all(clients.map((client) => client.close())))
  const admin = clients[0]!.db('admin')
  await admin.command({ enableSharding: 'app', primaryShard: 'shard01' })
  await admin.command({ shardCollection: 'app.c', key: { k: 1 } })
  const collections = clients.map((client) => client.db('app').collection<Doc>('c'))
  await fill(collections[0]!)
  const rounds: BalancerRoundEvent[] = []
  const migrations: MigrationEvent[] = []
  cluster.on('balancer-round', (event) => rounds.push(event))
  cluster.on('migration', (event) => void (event.stage === 'committed' && migrations.push(event)))
  const traffic = new Traffic()
  const working = Array.from({ length: clientsOfAKind }, (_, i) => i).flatMap((i) => [
    traffic.write(collections[i % 2]!, i),
    traffic.read(collections[(i + 1) % 2]!, i),
  ])
  const settling = cluster.balancer
    .settle({ rangeDeletion: true, timeoutMs: isLong ? 600_000 : 60_000 })
    .finally(() => traffic.stop())
  await Promise.all([...working, settling])
  await cluster.balancer.settle({ rangeDeletion: true, timeoutMs: 60_000 })
  t.same(traffic.problems.slice(0, 5), [], 'no read and no write saw anything strange')
  t.ok(
    migrations.length > 2 && rounds.length >= migrations.length,
    `${migrations.length} migrations in ${rounds.length} rounds`,
  )

  const contents = new Map<number, number>()
  for await (const { _id, n } of collections[1]!.find({}, { projection: { n: 1 } })) contents.set(_id, n)
  let total = 0
  for (let _id = 0; _id < count; _id++) if (!traffic.acknowledged.has(_id)) traffic.acknowledged.set(_id, 0)
  for (const [_id, n] of traffic.acknowledged) {
    if (n !== 'gone') total++
    if (contents.get(_id) !== (n === 'gone' ? undefined : n))
      t.fail(`${_id} is ${contents.get(_id)} and was acknowledged as ${n}`)
  }
  t.equal(contents.size, total)
  const explanation = await cluster.balancer.explain('app.c')
  t.equal(explanation.balanced, true, explanation.answer)
  const { chunks, held } = await ownership(t, cluster, clients[0]!)
  t.equal(
    [...held.values()].reduce((sum, each) => sum + each, 0),
    total,
    'orphans are gone',
  )
  await reportsAgree(t, cluster, clients[0]!, chunks, held)
  t.equal(await collections[0]!.estimatedDocumentCount(), total)
}

for (const emulate of ['4.4', '7.0'] as const)
  t.test(
    `${emulate}: a collection is balanced while clients read and write`,
    { timeout: isLong ? 900_000 : 90_000 },
    (t) => balance(t, emulate),
  )

t.test('the balancer starts rounds by itself on worker threads', { timeout: 60_000 }, async (t) => {
  const cluster = await ShardedCluster.start(
    onHosts({ shards: 2, emulate: '7.0', chunkSize: '16KB', balancerRoundIntervalMs: 20 }),
  )
  t.teardown(() => cluster.stop())
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(() => client.close())
  const moved = new Promise<BalancerRoundEvent>((resolve) => {
    cluster.on('balancer-round', (event) => void (event.migrations.length > 0 && resolve(event)))
  })
  await client.db('admin').command({ shardCollection: 'app.c', key: { k: 1 } })
  await client
    .db('app')
    .collection<Doc>('c')
    .insertMany(Array.from({ length: 400 }, (_, i) => ({ _id: i, k: i, n: 0, pad })))
  const [migration] = (await moved).migrations
  t.match(migration, { ns: 'app.c', reason: 'chunksImbalance', outcome: 'moved' })
  await cluster.balancer.settle()
  t.equal((await cluster.balancer.explain('app.c')).balanced, true)
  t.equal(await client.db('app').collection('c').countDocuments(), 400)
})
