/**
 * Reads with read concern snapshot see documents at their place of that time, whatever has moved
 * since. Manual: reference/read-concern-snapshot.
 */
import t from 'tap'
import type { ClientSession, Document } from 'mongodb'
import { TestClusters, type Loose } from '../support/clusters.js'
import { codeOf } from './support/resharding-world.js'

const clusters = new TestClusters()
t.teardown(() => clusters.stop())

const keys = Array.from({ length: 20 }, (_, i) => i - 10)

for (const version of ['5.0', '8.0'] as const) {
  t.test(version, async (t) => {
    const world = await clusters.at(version)
    const [first, second, third] = world.shardIds as [string, string, string]
    const snapshot = (): ClientSession => {
      const session = world.client.startSession({ snapshot: true })
      t.teardown(() => session.endSession())
      return session
    }
    const filled = async (): Promise<Loose> => {
      const collection = await world.spread('c', { k: 1 }, [{ k: 0 }], [first, second])
      await collection.insertMany(keys.map((k) => ({ _id: k, k })))
      return collection
    }
    const read = async (collection: Loose, session: ClientSession, filter: Document = {}): Promise<number[]> => {
      const documents = await collection.find(filter, { session }).toArray()
      return documents.map(({ k }) => k as number).sort((a, b) => a - b)
    }

    t.test('a snapshot read finds documents of chunks that have moved since', async (t) => {
      const collection = await filled()
      const session = snapshot()
      t.same(await read(collection, session), keys)
      const move = (k: number, to: string) =>
        world.admin({ moveChunk: collection.namespace, find: { k }, to, _waitForDelete: true })
      await move(5, first)
      await move(-5, second)
      await move(5, third)
      await collection.deleteOne({ k: 3 })
      await collection.updateOne({ k: -3 }, { $set: { later: true } })
      await collection.insertOne({ _id: 100, k: 100 })
      t.same(await read(collection, session), keys, 'all of them')
      t.same(await read(collection, session, { k: 3 }), [3], 'one by its key')
      t.equal((await collection.findOne({ k: -3 }, { session }))!['later'], undefined)
      const counted = await collection.aggregate([{ $group: { _id: null, n: { $sum: 1 } } }], { session }).toArray()
      t.same(counted, [{ _id: null, n: 20 }])
      t.same((await collection.distinct('k', {}, { session })).length, 20)
      t.equal(await collection.countDocuments(), 20, 'without a snapshot: as it is now')
      t.equal((await read(collection, snapshot())).length, 20, 'a new snapshot, too')
    })

    t.test('a resharded collection has no older snapshots', async (t) => {
      const collection = await filled()
      const session = snapshot()
      t.same(await read(collection, session), keys)
      await world.admin({ reshardCollection: collection.namespace, key: { _id: 'hashed' }, numInitialChunks: 2 })
      t.equal(await codeOf(read(collection, session)), 250)
      t.same(await read(collection, snapshot()), keys)
    })
  })
}
