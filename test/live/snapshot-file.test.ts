/**
 * Snapshots in files: a cluster that is started from a file equals the saved cluster; invalid files
 * are rejected.
 */
import { Binary, Decimal128, Long, MaxKey, MinKey, ObjectId, Timestamp } from '@shardlab/bson'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClusterSnapshot, OptionError, ShardedCluster, type EmulatedVersion } from 'shardlab'
import t, { type Test } from 'tap'
import { admin, collectionOf, connected, fill, idsOf, placesOf, start, through } from './support/filled-cluster.js'

function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'shardlab-snapshot-'))
  t.teardown(() => rmSync(path, { recursive: true }))
  return path
}

const everyType = {
  _id: 'every type',
  ...{
    double: 1.5,
    string: 'ä\0b',
    object: { a: { b: 1 } },
    array: [1, 'x', null],
    date: new Date(1e12),
    null: null,
    bool: true,
  },
  ...{
    regex: /a.b/i,
    int: 7,
    long: Long.fromString('9007199254740993'),
    decimal: Decimal128.fromString('1.10'),
    min: new MinKey(),
  },
  ...{
    max: new MaxKey(),
    binary: new Binary(new Uint8Array([1, 2, 3]), 5),
    id: new ObjectId('65a000000000000000000001'),
  },
  timestamp: new Timestamp({ t: 5, i: 6 }),
}

for (const emulate of ['2.6', '8.0'] as const satisfies readonly EmulatedVersion[]) {
  t.test(`${emulate}: a cluster from a file equals the saved one`, async (t) => {
    const path = join(folder(t), 'filled.shardlab')
    const original = await start(t, { emulate, clock: 'manual', mongos: 2 })
    await fill(original)
    const zone = { ns: 'app.things', min: { x: 10 }, max: { x: 20 }, tag: 'eu' }
    await original.client
      .db('config')
      .collection('tags')
      .insertOne({ _id: { ns: zone.ns, min: zone.min } as never, ...zone })
    await original.client.db('other').collection<any>('types').insertOne(everyType)
    const stored = await original.client
      .db('other')
      .collection('types')
      .findOne({}, { promoteLongs: false, promoteValues: false })
    const retried = {
      ...{ insert: 'plain', documents: [{ _id: 1 }], $db: 'app', txnNumber: Long.fromNumber(1) },
      lsid: { id: new Binary(new Uint8Array(16).fill(9), 4) },
    }
    const writer = await through(t, original, 0)
    t.match(await writer.command(retried), { n: 1 })
    await original.cluster.advance('10m')
    const before = await placesOf(original)
    await original.cluster.crash('shard03')
    const snapshot = await original.cluster.snapshot()
    await snapshot.save(path)
    await snapshot.save(path)
    t.same(readdirSync(join(path, '..')), ['filled.shardlab'], 'it replaces the previous file and leaves no other')
    // First, because the driver would look for a server for half a minute.
    await original.client.close()
    await original.cluster.stop()

    const copy = await connected(t, await ShardedCluster.start({ from: path }))
    t.equal(copy.cluster.now(), original.cluster.now())
    t.match(
      copy.cluster.members().map(({ address, state }) => [address, state]),
      original.cluster.members().map(({ address }) => [address, address === 'shard03' ? 'crashed' : 'running']),
    )
    await copy.cluster.restart('shard03')
    t.same(await placesOf(copy), before, 'every document is where it was')
    const things = collectionOf(copy)
    t.match(await things.indexes(), [{ name: '_id_' }, { name: 'x_1' }, { name: 'y_1' }, { name: 'tags_1' }])
    t.same(await idsOf(things, { tags: 'b7' }), [7])
    await collectionOf(copy, 'last').insertOne({ _id: 5 })
    t.same(await idsOf(collectionOf(copy, 'last')), [3, 4, 5], 'capped')
    await t.rejects(collectionOf(copy, 'unique').insertOne({ email: 'a' }), { code: 11000 })
    if (emulate !== '2.6') t.equal((await idsOf(collectionOf(copy, 'seen'))).length, 10, 'a view')
    t.match(await copy.client.db('config').collection('tags').findOne({}), zone)
    t.same(
      await copy.client.db('other').collection('types').findOne({}, { promoteLongs: false, promoteValues: false }),
      stored,
    )
    const again = await through(t, copy, 1)
    t.match(await again.command(retried), { n: 1 }, 'a write that was done is answered')
    t.same(await idsOf(collectionOf(copy, 'plain')), [1])
    await admin(copy, { moveChunk: 'app.things', find: { x: 0 }, to: 'shard03' })
    t.equal(await things.countDocuments({}), 30)
    const hosts = (await copy.client.db('config').collection('shards').find().toArray()).map(
      ({ host }) => host.split('/')[1],
    )
    t.same(
      hosts,
      copy.cluster.shards.map(({ uri }) => uri.split('/')[2]),
    )

    await t.rejects(
      copy.cluster.restore(await ClusterSnapshot.load(path)),
      /a running cluster cannot be restored from a file/,
    )
    const own = await copy.cluster.snapshot()
    await things.deleteMany({})
    await copy.cluster.restore(own)
    t.equal(await things.countDocuments({}), 30, 'its own snapshots are like any other')
  })
}

t.test('damaged, truncated and foreign files are refused', async (t) => {
  const path = join(folder(t), 'snapshot')
  const { cluster } = await start(t, { shards: 1 })
  await (await cluster.snapshot()).save(path)
  const whole = readFileSync(path)
  const { id } = await ClusterSnapshot.load(path)
  t.match(id, /^[2-9a-z]{8}$/)
  await (await ClusterSnapshot.load(path)).save(`${path}.again`)
  t.equal((await ClusterSnapshot.load(`${path}.again`)).id, id, 'a saved snapshot keeps its id')
  t.not((await cluster.snapshot()).id, id, 'each snapshot has its own')
  t.match(whole.toString('latin1'), /^shardlab snapshot, format 4, by version \d+\.\d+\.\d+\n/)
  const refused = async (bytes: Uint8Array, message: RegExp, name: string) => {
    writeFileSync(path, bytes)
    const error = await ShardedCluster.start({ from: path }).then(
      (started) => started.stop(),
      (thrown: unknown) => thrown,
    )
    t.ok(error instanceof OptionError, name)
    t.match((error as Error).message, message, name)
    t.notMatch((error as Error).message, /\n/)
  }
  for (const length of [60, 300, whole.length - 200, whole.length - 1])
    await refused(
      whole.subarray(0, length),
      /snapshot is truncated or damaged: it ends after \d+ bytes/,
      `${length} bytes`,
    )
  for (const at of [70, 500, whole.length >> 1, whole.length - 1]) {
    const changed = Buffer.from(whole)
    changed[at]! ^= 4
    await refused(changed, /is (damaged: its contents|truncated or damaged)/, `byte ${at} changed`)
  }
  const misnamed = Buffer.from(whole.toString('latin1').replace('recordBytes', 'recordBytez'), 'latin1')
  await refused(misnamed, /is damaged: /, 'a header that is msgpack, but another one')
  await refused(Buffer.concat([whole, Buffer.from([0])]), /is damaged: /, 'something after it')
  await refused(
    Buffer.from(whole.toString('latin1').replace('format 4,', 'format 5,'), 'latin1'),
    /has the snapshot format 5 of shardlab .* reads format 4: take the snapshot again with this version\.$/,
    'format',
  )
  for (const other of ['', 'hello', '{"a":1}\n'.repeat(100)])
    await refused(Buffer.from(other), /is not a snapshot of a cluster\.$/, `none: ${other.slice(0, 9)}`)
  await t.rejects(ShardedCluster.start({ from: join(path, 'missing') }), /^OptionError|cannot be read: E(NOENT|NOTDIR)/)
  await t.rejects(ShardedCluster.start({ from: tmpdir() }), { name: 'OptionError', message: /cannot be read: EISDIR/ })
  await t.rejects((await cluster.snapshot()).save(join(path, 'x')), /cannot be written to .*: E/)
})
