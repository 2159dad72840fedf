/** Reads of the past and of the future of a member, in virtual time. */
import { createRandom } from '@shardlab/actor'
import { Binary, decode, encode, Timestamp, type Document } from '@shardlab/bson'
import { createSimulatedCluster } from '@shardlab/cluster'
import t, { type Test } from 'tap'
import { SetUnderTest } from './simulated-set.js'

async function start(t: Test, seed: number, members = 3): Promise<SetUnderTest> {
  const set = await SetUnderTest.start({ seed, members })
  t.teardown(() => set.runtime.stop())
  return set
}

const anyMember = { $readPreference: { mode: 'secondaryPreferred' } }

const snapshot = (atClusterTime?: Timestamp): Document => ({
  readConcern: { level: 'snapshot', ...(atClusterTime === undefined ? {} : { atClusterTime }) },
})

const gossip = (clusterTime: Timestamp): Document => ({
  clusterTime,
  signature: { hash: new Binary(Buffer.alloc(20), 0), keyId: 0 },
})

const timeAfter = ({ high, low }: Timestamp, seconds: number): Timestamp => new Timestamp({ t: high + seconds, i: low })

t.test('a secondary asks its primary for an entry when a reader has seen a later time', async (t) => {
  const set = await start(t, 1)
  const primary = await set.primary()
  const secondary = await set.secondary()
  const { operationTime } = await set.command(primary, { insert: 'c', documents: [{ _id: 1 }], writeConcern: { w: 3 } })
  for (const [readConcern, count] of [
    [{}, 3],
    [{ level: 'majority' }, 6],
  ] as const) {
    const later = timeAfter(operationTime as Timestamp, count)
    const began = set.runtime.now()
    const reply = await set.command(secondary, {
      find: 'c',
      readConcern: { ...readConcern, afterClusterTime: later },
      ...anyMember,
      $clusterTime: gossip(later),
    })
    t.match(reply, { ok: 1, cursor: { firstBatch: [{ _id: 1 }] } })
    t.ok((reply['operationTime'] as Timestamp).compare(later) >= 0)
    t.ok(set.runtime.now() - began < 1000, `${set.runtime.now() - began} ms`)
  }
  const later = timeAfter(operationTime as Timestamp, 9)
  const unable = set.command(secondary, {
    find: 'c',
    readConcern: { afterClusterTime: later },
    ...anyMember,
    maxTimeMS: 500,
    $clusterTime: gossip(later),
  })
  await set.runtime.crash(primary)
  t.match(await unable, { ok: 0, code: 50 }, 'without a primary the read waits')
})

t.test('snapshots of each member have what a majority had at their time, also after failovers', async (t) => {
  t.setTimeout(240_000)
  const seeds = process.env['SHARDLAB_LONG'] === '1' ? 30 : 3
  for (let seed = 1; seed <= seeds; seed++) {
    const set = await start(t, seed)
    const random = createRandom(seed).fork('snapshots')
    const states: { readonly time: Timestamp; readonly values: string }[] = []
    const values = new Map<number, number>()
    for (let i = 0; i < 40; i++) {
      const primary = await set.primary()
      if (i % 13 === 12) {
        await set.runtime.crash(primary)
        await set.primary()
        await set.runtime.restart(primary)
        continue
      }
      const id = random.below(5)
      values.set(id, i)
      const reply = await set.command(primary, {
        update: 'c',
        updates: [{ q: { _id: id }, u: { $set: { i } }, upsert: true }],
        writeConcern: { w: 'majority' },
      })
      t.match(reply, { n: 1, ok: 1 })
      states.push({ time: reply['operationTime'] as Timestamp, values: textOf(values) })
    }
    await set.settle()
    let found = 0
    for (const { time, values: expected } of states) {
      const name = set.running[random.below(set.running.length)]!
      const reply = await set.command(name, { find: 'c', ...snapshot(time), ...anyMember })
      // A member that was restarted has the changes since its checkpoint.
      if (reply['code'] === 239) continue
      found++
      const documents = (reply['cursor'] as { firstBatch: { _id: number; i: number }[] }).firstBatch
      const read = textOf(new Map(documents.map(({ _id, i }) => [_id, i])))
      if (read !== expected) t.equal(read, expected, `seed ${seed}, ${name}`)
    }
    t.ok(found > 20, `seed ${seed}: ${found} of ${states.length}`)
    await set.runtime.stop()
  }
})

const textOf = (values: ReadonlyMap<number, number>): string => JSON.stringify([...values].sort(([a], [b]) => a - b))

t.test('a snapshot contains no entry that a majority does not have', async (t) => {
  const set = await start(t, 5)
  const primary = await set.primary()
  const { operationTime } = await set.command(primary, { insert: 'c', documents: [{ _id: 1 }], writeConcern: { w: 3 } })
  const heal = await set.isolate(primary)
  const local = await set.command(primary, { insert: 'c', documents: [{ _id: 2 }], writeConcern: { w: 1 } })
  const ids = ({ cursor }: Document) => (cursor as { firstBatch: Document[] }).firstBatch.map(({ _id }) => _id)
  const reply = await set.command(primary, { find: 'c', ...snapshot() })
  t.same(ids(reply), [1])
  t.ok(((reply['cursor'] as Document)['atClusterTime'] as Timestamp).compare(operationTime as Timestamp) >= 0)
  const late = await set.command(primary, {
    find: 'c',
    ...snapshot(local['operationTime'] as Timestamp),
    maxTimeMS: 300,
  })
  t.match(late, { ok: 0, code: 50 }, 'a later time is awaited')
  await heal()
})

t.test('one time for all shards: through a router, a snapshot is never between two writes', async (t) => {
  const cluster = await createSimulatedCluster({ seed: 3, shards: 2, members: 3, serverTimings: false })
  t.teardown(() => cluster.stop())
  const ask = async (command: Document): Promise<Document> =>
    decode(await cluster.command(encode({ ...command, $db: command['$db'] ?? 'app' })), { promoteLongs: true })
  for (const command of [
    { enableSharding: 'app', primaryShard: 'shard01' },
    { shardCollection: 'app.things', key: { x: 1 } },
    { split: 'app.things', middle: { x: 0 } },
    { moveChunk: 'app.things', find: { x: 1 }, to: 'shard02' },
  ])
    t.match(await ask({ ...command, $db: 'admin' }), { ok: 1 })
  const write = (x: number, n: number) =>
    ask({
      update: 'things',
      updates: [{ q: { x }, u: { $set: { n } }, upsert: true }],
      writeConcern: { w: 'majority' },
    })
  const times: { readonly time: Timestamp; readonly n: number }[] = []
  const writing = (async () => {
    for (let n = 1; n <= 30; n++) {
      await write(-1, n)
      const { operationTime } = await write(1, n)
      times.push({ time: operationTime as Timestamp, n })
    }
  })()
  const read = async (rest: Document): Promise<number[]> => {
    const { cursor } = await ask({ find: 'things', sort: { x: 1 }, ...rest })
    t.ok(cursor['atClusterTime'], 'the reply has the time')
    return (cursor.firstBatch as { n: number }[]).map(({ n }) => n)
  }
  for (let i = 0; i < 30; i++) {
    const mode = i % 2 === 0 ? 'primary' : 'secondary'
    const [first = 0, second = 0] = await read({ ...snapshot(), $readPreference: { mode } })
    if (first !== second && first !== second + 1) t.fail(`${first} and ${second}`)
    await cluster.advance(37)
  }
  await writing
  for (const { time, n } of times) {
    const mode = n % 2 === 0 ? 'primary' : 'secondary'
    t.strictSame(await read({ ...snapshot(time), $readPreference: { mode } }), [n, n], `at ${n} from the ${mode}`)
  }
  const { cursor } = await ask({ find: 'things', batchSize: 1, ...snapshot() })
  const more = await ask({ getMore: cursor.id, collection: 'things' })
  t.same(more['cursor']['atClusterTime'], cursor['atClusterTime'])
  const { values, atClusterTime } = await ask({ distinct: 'things', key: 'n', ...snapshot(times[4]!.time) })
  t.strictSame([values, atClusterTime], [[5], times[4]!.time])
})

t.test('a router that was idle chooses a time of the last seconds', async (t) => {
  const cluster = await createSimulatedCluster({ seed: 4, shards: 1, mongos: 2 })
  t.teardown(() => cluster.stop())
  const ask = async (command: Document, router: number): Promise<Document> =>
    decode(await cluster.command(encode({ ...command, $db: 'app' }), { to: cluster.mongos[router]! }))
  await ask({ insert: 'c', documents: [{ _id: 1 }] }, 0)
  await ask({ find: 'c' }, 1)
  await cluster.advance(60_000)
  await ask({ insert: 'c', documents: [{ _id: 2 }] }, 0)
  await cluster.advance(30_000)
  const { cursor } = await ask({ find: 'c', ...snapshot() }, 1)
  t.same((cursor as { firstBatch: Document[] }).firstBatch, [{ _id: 1 }, { _id: 2 }])
})
