/** reshardCollection through the official driver: its effects and its refusals. */
import t from 'tap'
import { Long, MaxKey, MinKey, toExtendedJson } from '@shardlab/bson'
import type { Document } from 'mongodb'
import { codeOf, ReshardingWorld, type Numbered } from './support/resharding-world.js'

for (const emulate of ['5.0', '7.0', '8.0'] as const) {
  t.test(`resharding moves documents to the owners under the new key, ${emulate}`, async (t) => {
    const world = await ReshardingWorld.start(t, { emulate })
    const { app } = world
    const count = 1000
    await world.shard('c', count)
    const before = (await world.entry('app.c'))!
    await world.admin({ reshardCollection: 'app.c', key: { m: 1 }, numInitialChunks: 6 })
    const after = (await world.entry('app.c'))!
    t.same(after['key'], { m: 1 })
    t.equal(after['unique'], false)
    for (const name of ['uuid', 'lastmodEpoch', 'timestamp'])
      t.not(String(after[name]), String(before[name]), `another ${name}`)
    for (const name of ['reshardingFields', 'allowMigrations']) t.notOk(name in after, `no ${name}`)
    const chunks = await world.chunks('app.c')
    t.equal(chunks.length, 6)
    t.same(
      chunks.map(({ lastmod }) => String(lastmod)),
      [0, 1, 2, 3, 4, 5].map((minor) => String(Long.fromBits(minor, 1, true))),
    )
    const perShard = new Map(world.cluster.shards.map(({ id }) => [id, chunks.filter(({ shard }) => shard === id)]))
    t.same(
      [...perShard.values()].map(({ length }) => length),
      [2, 2, 2],
      'every shard has as many',
    )
    let total = 0
    for (const { id } of world.cluster.shards) {
      const shard = (await world.direct(id)).db('app')
      const values = await shard.collection<Numbered>('c').find().toArray()
      total += values.length
      const owned = perShard.get(id)!
      t.ok(
        values.every(({ m }) => owned.some(({ min, max }) => !(m < min.m) && !(m >= max.m))),
        `${id} has nothing but what is its own`,
      )
      t.ok(
        (await shard.collection('c').indexExists('m_1')) && (await shard.collection('c').indexExists('k_1')),
        'indexes came along, and one was made',
      )
      t.same(
        (await shard.listCollections().toArray()).map(({ name }) => name),
        ['c'],
      )
    }
    t.equal(total, count)
    t.equal(await app.collection<Numbered>('c').countDocuments({ m: 77 }), 1)
    const explained = await app.collection('c').find({ m: 77 }).explain('queryPlanner')
    t.equal(explained['queryPlanner'].winningPlan.stage, 'SINGLE_SHARD')
    const transitions = await world.config
      .collection('changelog')
      .find({ what: 'resharding.coordinator.transition', ns: 'app.c' })
      .toArray()
    t.same(
      transitions.map(({ details }) => details.newState),
      ['initializing', 'preparing-to-donate', 'cloning', 'applying', 'blocking-writes', 'committing', 'done'],
    )
    t.equal((await world.admin({ reshardCollection: 'app.c', key: { m: 1 } }))['ok'], 1, 'the same key needs no work')
    t.equal(String((await world.entry('app.c'))!['uuid']), String(after['uuid']))
  })
}

t.test('versions before 5.0 do not have reshardCollection', async (t) => {
  const world = await ReshardingWorld.start(t, { emulate: '4.4', shards: 2 })
  for (const name of [
    'reshardCollection',
    'abortReshardCollection',
    'commitReshardCollection',
    'cleanupReshardCollection',
  ])
    t.equal(await codeOf(world.admin({ [name]: 'app.c', key: { m: 1 } })), 59, name)
})

t.test('resharding accepts hashed keys, zones and initial chunks', async (t) => {
  const world = await ReshardingWorld.start(t)
  await world.shard('c', 1000)
  await world.admin({ reshardCollection: 'app.c', key: { m: 'hashed' }, numInitialChunks: 9 })
  const hashed = await world.chunks('app.c')
  t.equal(hashed.length, 9)
  t.ok(
    hashed.slice(1).every(({ min }) => Math.abs(Number(min.m)) > 2 ** 40),
    'bounds are hashes of keys that are there',
  )
  t.equal(await world.app.collection('c').countDocuments({}), 1000)
  await world.admin({ addShardToZone: 'shard03', zone: 'high' })
  const zones = [{ zone: 'high', min: { m: 500 }, max: { m: new MaxKey() } }]
  await world.admin({ reshardCollection: 'app.c', key: { m: 1 }, numInitialChunks: 4, zones })
  const chunks = await world.chunks('app.c')
  t.ok(
    chunks.some(({ min }) => min.m === 500),
    'the bound of a zone is one of chunks',
  )
  t.ok(chunks.filter(({ min }) => min.m >= 500).every(({ shard }) => shard === 'shard03'))
  t.same(
    (await world.config.collection('tags').find().toArray()).map(({ ns, min, tag }) => ({ ns, min, tag })),
    [{ ns: 'app.c', min: { m: 500 }, tag: 'high' }],
  )
  t.equal(
    await codeOf(world.admin({ reshardCollection: 'app.c', key: { k: 1 }, numInitialChunks: 2 })),
    2,
    'a collection with zones needs the zones of the new key',
  )
  const _presetReshardedChunks = [
    { recipientShardId: 'shard03', min: { k: new MinKey() }, max: { k: 10 } },
    { recipientShardId: 'shard02', min: { k: 10 }, max: { k: new MaxKey() } },
  ]
  await world.admin({ reshardCollection: 'app.c', key: { k: 1 }, zones: [], _presetReshardedChunks })
  t.same(
    (await world.chunks('app.c')).map(({ shard }) => shard),
    ['shard03', 'shard02'],
  )
  t.equal(await world.config.collection('tags').countDocuments({}), 0)
  t.equal(await (await world.direct('shard03')).db('app').collection('c').countDocuments({}), 10)
})

t.test('resharding keeps the order of a key and of zones whose fields have numeric names', async (t) => {
  const world = await ReshardingWorld.start(t)
  await world.shard('c', 200)
  await world.admin({ addShardToZone: 'shard03', zone: 'high' })
  // A Map keeps the order of its names, unlike an object.
  const fields = (k: unknown, one: unknown) => new Map([...Object.entries({ k }), ['1', one]])
  const zones = [{ zone: 'high', min: fields(100, 0), max: fields(150, 0) }]
  await world.admin({ reshardCollection: 'app.c', key: fields(1, 1), numInitialChunks: 4, zones })
  const raw = async (name: string, filter: Document) => {
    const bytes = await world.config.collection<Document>(name).findOne(filter, { raw: true })
    return toExtendedJson(bytes as unknown as Uint8Array)
  }
  t.match(await raw('collections', { _id: 'app.c' }), '"key":{"k":1,"1":1}')
  t.match(await raw('tags', { ns: 'app.c' }), '"min":{"k":100,"1":0},"max":{"k":150,"1":0}')
  await world.app.renameCollection('c', 'd')
  t.match(await raw('collections', { _id: 'app.d' }), '"key":{"k":1,"1":1}')
  t.equal(await world.app.collection('d').countDocuments({ k: { $gte: 0 } }), 200)
  t.equal(await world.app.collection('d').countDocuments({ k: 120 }), 1)
})

t.test('8.0 reshards to the same key with forceRedistribution and shardDistribution', async (t) => {
  const world = await ReshardingWorld.start(t, { emulate: '8.0' })
  await world.shard('c', 400)
  const uuid = String((await world.entry('app.c'))!['uuid'])
  await world.admin({ reshardCollection: 'app.c', key: { k: 1 }, numInitialChunks: 3, forceRedistribution: true })
  t.not(String((await world.entry('app.c'))!['uuid']), uuid)
  t.same(new Set((await world.chunks('app.c')).map(({ shard }) => shard)), new Set(['shard01', 'shard02', 'shard03']))
  t.equal(await codeOf(world.admin({ reshardCollection: 'app.c', key: { m: 1 }, forceRedistribution: true })), 72)
  const force = { reshardCollection: 'app.c', key: { k: 1 }, forceRedistribution: true }
  await world.admin({ ...force, numInitialChunks: 1, shardDistribution: [{ shard: 'shard02' }] })
  t.same(
    (await world.chunks('app.c')).map(({ shard }) => shard),
    ['shard02'],
  )
  const whole = { shard: 'shard03', min: { k: new MinKey() }, max: { k: new MaxKey() } }
  await world.admin({ ...force, shardDistribution: [whole] })
  t.same(
    (await world.chunks('app.c')).map(({ shard }) => shard),
    ['shard03'],
  )
  t.equal(await codeOf(world.admin({ ...force, shardDistribution: [{ ...whole, shard: 'nowhere' }] })), 70)
  t.equal(await codeOf(world.admin({ ...force, shardDistribution: [{ ...whole, min: { k: 0 } }] })), 72)
  t.equal(await codeOf(world.admin({ ...force, shardDistribution: [whole, { shard: 'shard01' }] })), 72)
})

t.test('a refused resharding changes nothing', async (t) => {
  const world = await ReshardingWorld.start(t)
  await world.shard('c', 200)
  await world.app.collection('plain').insertOne({ a: 1 })
  const before = JSON.stringify([await world.entry('app.c'), await world.chunks('app.c')])
  const reshard = (more: Document) =>
    codeOf(world.admin({ reshardCollection: 'app.c', key: { m: 1 }, numInitialChunks: 2, ...more }))
  t.equal(await codeOf(world.admin({ reshardCollection: 'nowhere.c', key: { m: 1 } })), 26)
  t.equal(await codeOf(world.admin({ reshardCollection: 'app.plain', key: { m: 1 } })), 118)
  t.equal(await codeOf(world.admin({ reshardCollection: 'app.c' })), 40414)
  t.equal(await codeOf(world.admin({ reshardCollection: 'c', key: { m: 1 } })), 73)
  t.equal(await codeOf(world.app.command({ reshardCollection: 'app.c', key: { m: 1 } })), 13)
  t.equal(await reshard({ key: { m: -1 } }), 2)
  t.equal(await reshard({ key: {} }), 2)
  t.equal(await reshard({ unique: true }), 2)
  t.equal(await reshard({ collation: { locale: 'en' } }), 2)
  t.equal(await reshard({ numInitialChunks: 0 }), 4952602)
  t.equal(await reshard({ numInitialChunks: 1000 }), 4952606, 'not so many different keys')
  t.equal(await reshard({ key: { nothing: 1 }, numInitialChunks: 3 }), 4952606, 'one key makes two chunks')
  t.equal(await reshard({ zones: [{ zone: 'z', min: { m: 5 }, max: { m: 10 } }] }), 405, 'no shard carries it')
  const overlapping = [
    { zone: 'z', min: { m: 5 }, max: { m: 10 } },
    { zone: 'z', min: { m: 9 }, max: { m: 12 } },
  ]
  t.equal(await reshard({ zones: overlapping }), 2)
  t.equal(await reshard({ zones: [{ min: { m: 5 }, max: { m: 10 } }] }), 40414)
  t.equal(await reshard({ _presetReshardedChunks: [] }), 2)
  t.equal(await codeOf(world.admin({ abortReshardCollection: 'app.c' })), 339)
  t.equal(await codeOf(world.admin({ commitReshardCollection: 'app.c' })), 339)
  t.equal(await codeOf(world.admin({ cleanupReshardCollection: 'app.c' })), 'ok')
  for (const name of ['abortReshardCollection', 'commitReshardCollection', 'cleanupReshardCollection'])
    t.equal(await codeOf(world.admin({ [name]: 'app.plain' })), 26, name)
  // Conditions that the documents violate.
  await world.app.collection('c').createIndex({ k: 1, n: 1 }, { unique: true })
  t.equal(await reshard({}), 72, 'a unique index that does not begin with the new key')
  await world.app.collection('c').dropIndex('k_1_n_1')
  await world.app.collection<Document>('c').insertOne({ _id: 'array' as never, k: 1, m: [1, 2] })
  t.equal(await reshard({}), 61, 'an array in the new key')
  await world.app.collection<Document>('c').deleteOne({ _id: 'array' as never, k: 1 })
  await world.app.collection<Document>('c').insertOne({ _id: 7 as never, k: 199.5, m: 7 })
  t.equal(await reshard({ numInitialChunks: 1 }), 11000, 'two documents of one _id on one shard')
  await world.app.collection<Document>('c').deleteOne({ _id: 7 as never, k: 199.5 })
  t.equal(
    JSON.stringify([await world.entry('app.c'), await world.chunks('app.c')].map(withoutTimes)),
    JSON.stringify((JSON.parse(before) as unknown[]).map(withoutTimes)),
  )
  t.equal(await world.config.collection('reshardingOperations').countDocuments({}), 0)
  t.equal(await world.app.collection('c').countDocuments({}), 200)
  t.equal(await reshard({}), 'ok')
})

/** `lastmod` of the entry is the time of the last change, as on the server. */
function withoutTimes(value: unknown): unknown {
  const copy = JSON.parse(JSON.stringify(value)) as Document
  if (!Array.isArray(copy)) delete copy['lastmod']
  return copy
}
