/**
 * Changes of the catalog through one mongos while the other holds stale routing data: no read or
 * write through the other returns a wrong result, in any order. Each pair of a change and an
 * operation has its own collection, and its own database where needed.
 */
import t, { type Test } from 'tap'
import { MongoClient, type Collection, type Document } from 'mongodb'
import { ShardedCluster } from 'shardlab'
import { changes, Place, ranged, rows, type Change, type Row } from './support/catalog-changes.js'
import { byId, operations, type Operation } from './support/operations.js'

/** Both mongoses of a cluster, each with its own client. */
async function twoRouters(
  t: Test,
  emulate: '5.0' | '7.0' | '8.0',
): Promise<{ cluster: ShardedCluster; changing: MongoClient; behind: MongoClient }> {
  const cluster = await ShardedCluster.start({
    shards: 3,
    mongos: 2,
    emulate,
    runtime: 'inline',
    balancerRoundIntervalMs: 100_000,
  })
  const connect = (endpoint: string) => MongoClient.connect(`mongodb://${endpoint}/?directConnection=true`)
  const changing = await connect(cluster.mongos[0]!)
  const behind = await connect(cluster.mongos[1]!)
  t.teardown(async () => {
    await Promise.all([changing.close(), behind.close()])
    await cluster.stop()
  })
  return { cluster, changing, behind }
}

/** Runs one change and one operation after it. */
async function runPair(
  place: Place,
  behind: MongoClient,
  { prepare, make, records }: Change,
  operation: Operation,
): Promise<readonly [got: unknown, wanted: unknown]> {
  await place.admin({ enableSharding: place.db })
  if (prepare === undefined) {
    await place.shard({ k: 'hashed' })
    await place.collection.insertMany([...rows])
  } else await prepare(place)
  const stale = behind.db(place.db).collection<Row>('c')
  // Now the other mongos has cached the collection, or that it is unsharded.
  await stale.find({}).toArray()
  const held = await make(place)
  const [got, wanted] = await operation.run(stale, held, records ?? held.length)
  const left = [...(operation.leaves?.(held) ?? held)].sort(byId)
  const after = (collection: Collection<Row>) => collection.find().sort({ _id: 1 }).toArray()
  return [
    [got, await after(place.collection), await after(stale)],
    [wanted, left, left],
  ]
}

/**
 * Of each version, one of this many operations is tried, a different set for each change. Long runs
 * try all of the default version.
 */
const versions =
  process.env['SHARDLAB_LONG'] === '1' ? { '5.0': 4, '7.0': 1, '8.0': 4 } : { '5.0': 8, '7.0': 2, '8.0': 8 }

for (const emulate of ['5.0', '7.0', '8.0'] as const) {
  t.test(`operations through a stale router return right results, ${emulate}`, { timeout: 80_000 }, async (t) => {
    const { cluster, changing, behind } = await twoRouters(t, emulate)
    const { commands } = (await changing.db('admin').command({ listCommands: 1 })) as { commands: Document }
    for (const [c, change] of changes.entries()) {
      const { name, needs } = change
      if (needs !== undefined && !(needs in commands)) {
        t.comment(`${name}: ${needs} is not built yet`)
        continue
      }
      const tried = operations.filter((_, o) => (c + o) % versions[emulate] === 0)
      const results = await Promise.all(
        tried.map(async (operation, o) => {
          try {
            return await runPair(new Place(cluster, changing, `pair-${c}-${o}`), behind, change, operation)
          } catch (error) {
            return [error, 'no error'] as const
          }
        }),
      )
      for (const [o, [got, wanted]] of results.entries()) {
        const operation = tried[o]!.name
        // Deletes through these routers also delete orphans, and count them.
        const includesOrphans =
          emulate === '5.0' && (operation === 'deleteMany' || operation === 'updateMany') && Array.isArray(got)
        const compared = (values: unknown) => (includesOrphans ? (values as unknown[]).slice(1) : values)
        t.same(compared(got), compared(wanted), `${name}, then ${operation}`)
      }
      await Promise.all(tried.map((_, o) => changing.db(`pair-${c}-${o}`).dropDatabase()))
    }
  })
}

t.test('a stale router finds a renamed collection', async (t) => {
  const { cluster, changing, behind } = await twoRouters(t, '7.0')
  const place = new Place(cluster, changing, 'renamed')
  await place.shard({ k: 'hashed' })
  await place.collection.insertMany([...rows])
  const stale = behind.db('renamed')
  t.equal(await stale.collection('c').countDocuments(), 8)
  t.equal(await stale.collection('d').countDocuments(), 0, 'known not to be there')
  await place.collection.rename('d')
  t.equal(await stale.collection('d').countDocuments({ n: 1 }), 4)
  t.equal(await stale.collection('c').countDocuments(), 0)
})

t.test('a cursor that was open before a move reads every document once', async (t) => {
  const { cluster, changing, behind } = await twoRouters(t, '7.0')
  if (!('moveChunk' in ((await changing.db('admin').command({ listCommands: 1 }))['commands'] as Document))) {
    t.comment('moveChunk is not built yet')
    return
  }
  const place = new Place(cluster, changing, 'cursors')
  await ranged(place)
  const cursor = behind.db('cursors').collection<Row>('c').find({}, { batchSize: 2 })
  const found = [await cursor.next(), await cursor.next()]
  await place.move({ k: 5 })
  found.push(...(await cursor.toArray()))
  t.same(found.map((row) => row!._id).sort(), [0, 1, 2, 3, 4, 5, 6, 7])
  t.equal(await behind.db('cursors').collection('c').countDocuments(), 8)
})
