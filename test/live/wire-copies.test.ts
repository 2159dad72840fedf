/** Snapshots, forks and faults through commands, as clients in any language use them. */
import { MongoClient, type Document } from 'mongodb'
import { ShardedCluster } from 'shardlab'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { run, shardlab } from '../support/up.js'
import { admin, collectionOf, fill, idsOf, placesOf, start } from './support/filled-cluster.js'

const isLong = process.env['SHARDLAB_LONG'] === '1'
const python = '/usr/bin/python3'
const script = fileURLToPath(new URL('../../clients/scripts/copies.py', import.meta.url))

for (const emulate of ['2.6', '7.0', '8.0'] as const)
  t.test(`${emulate}: a client takes a snapshot, restores it, and forks it`, async (t) => {
    const world = await start(t, { emulate, mongos: 2 })
    await fill(world)
    const things = collectionOf(world)
    const [before, places] = [await idsOf(things), await placesOf(world)]
    const { id, takenAt, members, ok } = await admin(world, { shardlab: 'snapshot' })
    t.match({ id, takenAt, ok }, { id: /^[2-9a-z]{8}$/, takenAt: Date, ok: 1 })
    t.same(
      members,
      world.cluster.members().map(({ address }) => address),
    )
    await things.deleteMany({})
    await things.insertOne({ _id: 'new', x: 5 })
    const fork = await admin(world, { shardlab: 'fork', id })
    t.match(fork, { id: /^[2-9a-z]{8}$/, uri: /^mongodb:/, mongos: [/:\d+$/, /:\d+$/], standby: [], ok: 1 })
    t.same(
      (fork['shards'] as Document[]).map((shard) => shard['id']),
      ['shard01', 'shard02', 'shard03'],
    )
    t.match(await admin(world, { shardlab: 'restore', id }), { restored: id, ok: 1 })
    t.same(await idsOf(things), before)
    t.same(await placesOf(world), places)

    const other = await MongoClient.connect(fork['uri'] as string)
    const theirs = other.db('app').collection('things')
    t.equal(await theirs.countDocuments({}), before.length, 'a fork of a snapshot has its documents')
    await theirs.deleteMany({})
    await other.close()
    t.same(await idsOf(things), before, 'the clusters are independent')
    const now = await admin(world, { shardlab: 'fork' })
    t.match(await admin(world, { shardlab: 'copies' }), {
      snapshots: [{ id, takenAt, members, emulate }],
      forks: [{ id: fork['id'] }, { id: now['id'], uri: now['uri'] }],
    })
    for (const discarded of [id, fork['id'], now['id']])
      t.match(await admin(world, { shardlab: 'discard', id: discarded }), { discarded })
    t.match(await admin(world, { shardlab: 'copies' }), { snapshots: [], forks: [] })
    await t.rejects(
      MongoClient.connect(now['uri'] as string, { serverSelectionTimeoutMS: 1 }),
      { name: 'MongoServerSelectionError' },
      'a discarded fork has stopped',
    )
  })

t.test('a copy that is refused is one sentence, and changes nothing', async (t) => {
  const world = await start(t)
  await fill(world)
  const refused: readonly (readonly [Document, number, RegExp])[] = [
    [{ shardlab: 'restore' }, 2, /^id must be the id of a snapshot; none has been taken with /],
    [{ shardlab: 'restore', id: 'nothing' }, 2, /^there is no snapshot nothing; none has been taken with /],
    [{ shardlab: 'discard', id: 5 }, 2, /^id must be the id of a snapshot; /],
    [{ shardlab: 'fork', id: 'nothing' }, 2, /^there is no snapshot nothing; /],
    [{ shardlab: 'fork', port: 'any' }, 2, /^port must be a number\.$/],
    [{ shardlab: 'fork', port: 70_000 }, 2, /^port is 70000/],
    [{ shardlab: 'fork', prot: 1 }, 2, /^shardlab fork: unknown field prot; did you mean port\?$/],
    [{ shardlab: 'snapshots' }, 2, /^shardlab: unknown verb snapshots; did you mean snapshot\?$/],
    [{ shardlab: 'snapshot', save: 'x' }, 2, /^shardlab snapshot: unknown field save; the verb has no fields\.$/],
    [{ shardlab: 'reached' }, 2, /^reached needs the id of a fault at a step/],
  ]
  for (const [command, code, message] of refused) await t.rejects(admin(world, command), { code, message })
  t.match(await admin(world, { shardlab: 'copies' }), { snapshots: [], forks: [] })

  await admin(world, { shardlab: 'apply', fault: 'hold at shard.migration.caught-up' })
  const { faults } = await admin(world, { shardlab: 'list' })
  const moved = admin(world, { moveChunk: 'app.things', find: { x: 0 }, to: 'shard02' })
  t.match(await admin(world, { shardlab: 'reached', id: faults[0].id }), {
    member: 'shard01',
    step: 'shard.migration.caught-up',
    ok: 1,
  })
  await t.rejects(admin(world, { shardlab: 'snapshot' }), {
    code: 117,
    codeName: 'ConflictingOperationInProgress',
    message: /^the cluster cannot be copied now: shard01 /,
  })
  await admin(world, { shardlab: 'heal' })
  await moved

  const threads = await ShardedCluster.start({ shards: 1 })
  const client = await MongoClient.connect(threads.uri)
  t.teardown(async () => {
    await client.close()
    await threads.stop()
  })
  await t.rejects(client.db('admin').command({ shardlab: 'snapshot' }), {
    code: 2,
    message:
      "only a cluster in the caller's thread can be copied and restored: start it with runtime: 'inline', or with up --runtime inline.",
  })
})

t.test('an operation that waits for a step ends with its time limit, and then the cluster can be copied', async (t) => {
  const world = await start(t)
  const { id } = await admin(world, { shardlab: 'apply', fault: 'hold at shard.migration.caught-up' })
  await t.rejects(admin(world, { shardlab: 'reached', id, maxTimeMS: 20 }), { code: 50 })
  t.match(await admin(world, { shardlab: 'snapshot' }), { ok: 1 })
  const waiting = t.rejects(admin(world, { shardlab: 'reached', id }), { code: 2, message: /was healed\.$/ })
  await admin(world, { shardlab: 'heal', id })
  await waiting
})

t.test('concurrent clients get a snapshot each, with every acknowledged write', async (t) => {
  const world = await start(t, { mongos: 2 })
  await fill(world)
  const things = collectionOf(world)
  const acknowledged: string[] = []
  const snapshots: { id: string; from: number }[] = []
  await Promise.all(
    [0, 1, 2, 3].map(async (client) => {
      for (let i = 0; i < 10; i++) {
        const _id = `${client}.${i}`
        await things.insertOne({ _id, x: i * 3 })
        acknowledged.push(_id)
        if (i % 3 !== client % 3) continue
        const from = acknowledged.length
        snapshots.push({ id: (await admin(world, { shardlab: 'snapshot' }))['id'] as string, from })
      }
    }),
  )
  t.equal(new Set(snapshots.map(({ id }) => id)).size, snapshots.length)
  for (const { id, from } of snapshots) {
    await admin(world, { shardlab: 'restore', id })
    const ids = new Set(await idsOf(things))
    t.same(
      acknowledged.slice(0, from).filter((each) => !ids.has(each)),
      [],
    )
  }
})

t.test('the command line copies a cluster, and waits for a fault', async (t) => {
  const world = await start(t)
  await fill(world)
  const copy = (...args: string[]) => shardlab('copy', ...args, '--uri', world.cluster.uri)
  t.equal((await copy('list')).stdout, 'There are no snapshots and no forks.\n')
  const { stdout, stderr, code } = await copy('snapshot')
  t.match({ stdout, stderr, code }, { stdout: /^Snapshot [2-9a-z]{8}\n$/, stderr: '', code: 0 })
  const id = stdout.slice(9, 17)
  await collectionOf(world).deleteMany({})
  t.equal((await copy('restore', id)).stdout, `Restored ${id}\n`)
  t.equal(await collectionOf(world).countDocuments({}), 30)
  const fork = JSON.parse((await copy('fork', id, '--json')).stdout) as Document
  t.match(fork, { id: String, uri: /^mongodb:/, shards: [{ id: 'shard01' }, {}, {}], ok: 1 })
  t.match((await copy('list')).stdout, new RegExp(`^${id}  snapshot of \\S+Z\n${fork['id']}  fork at mongodb:\\S+\n$`))
  t.equal((await copy('discard', fork['id'] as string)).stdout, `Discarded ${fork['id']}\n`)
  for (const [args, message] of [
    [['restore'], /^shardlab: restore needs an id: copy list shows them\.\n$/],
    [['snapshot', id], /^shardlab: snapshot takes no id: remove /],
    [['restore', id, '--port', '1'], /^shardlab: restore takes no --port: remove it\.\n$/],
    [['restore', 'none'], /^shardlab: there is no snapshot none; there are /],
    [['forc'], /Did you mean|allowed choices/],
  ] as const)
    t.match(await copy(...args), { code: 2, stdout: '', stderr: message })

  const held = await world.cluster.faults.apply('hold at shard.migration.caught-up')
  const reached = shardlab('fault', '--uri', world.cluster.uri, '--reached', held.id)
  const moved = admin(world, { moveChunk: 'app.things', find: { x: 0 }, to: 'shard02' })
  t.match(await reached, { code: 0, stdout: 'shard01 has reached shard.migration.caught-up\n' })
  await world.cluster.faults.heal()
  await moved
})

t.test('PyMongo takes a snapshot, restores it, forks it, and waits for a step', async (t) => {
  const { code } = await run(python, ['-c', 'import pymongo']).catch(() => ({ code: 1 }))
  if (code !== 0) return void t.pass('PyMongo', { skip: "Debian's python3-pymongo is not installed" })
  const { cluster } = await start(t)
  t.match(await run(python, [script, cluster.uri]), { code: 0, stdout: 'fine\n', stderr: '' })
})

t.test('the command line copies sets of three members, with and without sharding', async (t) => {
  const topologies = [
    { shards: 2, members: 3 },
    { topology: 'replica-set', members: 3 },
  ] as const
  for (const options of isLong ? topologies : topologies.slice(0, 1)) {
    const cluster = await ShardedCluster.start({ ...options, runtime: 'inline' })
    const client = await MongoClient.connect(cluster.uri)
    t.teardown(async () => {
      await client.close()
      await cluster.stop()
    })
    const copy = (...args: string[]) => shardlab('copy', ...args, '--uri', cluster.uri)
    const rows = client.db('app').collection<{ _id: number }>('rows')
    await rows.insertOne({ _id: 1 }, { writeConcern: { w: 'majority' } })
    const { stdout, stderr } = await copy('snapshot')
    t.match({ stdout, stderr }, { stdout: /^Snapshot [2-9a-z]{8}\n$/, stderr: '' })
    const id = stdout.slice(9, 17)
    await rows.insertOne({ _id: 2 }, { writeConcern: { w: 'majority' } })
    const fork = JSON.parse((await copy('fork', id, '--json')).stdout) as Document
    const other = await MongoClient.connect(fork['uri'] as string)
    t.teardown(() => other.close())
    const theirs = other.db('app').collection<{ _id: number }>('rows')
    await theirs.insertOne({ _id: 3 }, { writeConcern: { w: 'majority' } })
    t.strictSame(await theirs.find({}, { sort: { _id: 1 } }).toArray(), [{ _id: 1 }, { _id: 3 }])
    t.equal((await copy('restore', id)).stdout, `Restored ${id}\n`)
    await rows.insertOne({ _id: 4 }, { writeConcern: { w: 'majority' } })
    t.strictSame(await rows.find({}, { sort: { _id: 1 } }).toArray(), [{ _id: 1 }, { _id: 4 }])
  }
})
