/** Definitions on the catalog, on shards and during other changes. */
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster } from '@shardlab/cluster'
import type { EmulatedVersion } from '@shardlab/sharding'
import t, { type Test } from 'tap'

async function start(t: Test, emulate: EmulatedVersion, shards = 2) {
  const cluster = await createSimulatedCluster({ seed: 1, shards, emulate })
  t.teardown(() => cluster.stop())
  const run = async (command: Document, to = 'mongos01') =>
    decode(await cluster.command(encode({ ...command, $db: command['$db'] ?? 'admin' }), { to }), {
      promoteLongs: true,
    })
  t.match(await run({ enableSharding: 'app' }), { ok: 1 })
  const { cursor } = await run({ find: 'databases', filter: { _id: 'app' }, $db: 'config' })
  return { cluster, run, primary: cursor.firstBatch[0].primary as string }
}

t.test('through a router a drop of a missing or unsharded collection removes its zones', async (t) => {
  for (const emulate of ['4.0', '4.4', '7.0', '8.0'] as const) {
    const { run } = await start(t, emulate)
    await run({ addShardToZone: 'shard01', zone: 'eu' })
    for (const create of [false, true]) {
      if (create) t.match(await run({ create: 'c', $db: 'app' }), { ok: 1 })
      const range = { updateZoneKeyRange: 'app.c', min: { a: 0 }, max: { a: 9 }, zone: 'eu' }
      t.match(await run(range), { ok: 1 }, emulate)
      t.match(await run({ drop: 'c', $db: 'app' }), { ok: 1 })
      t.match(await run({ count: 'tags', $db: 'config' }), { n: 0 })
    }
    t.match(await run({ shardCollection: 'app.c', key: { b: 1 } }), { ok: 1 }, 'the zones do not fit this key')
  }
})

t.test('2.6: a drop of a missing collection fails', async (t) => {
  const { run } = await start(t, '2.6')
  t.match(await run({ drop: 'c', $db: 'app' }), { ok: 0, errmsg: 'ns not found' })
})

t.test('a shard refuses to rename a sharded collection, and to rename to one, for its own client', async (t) => {
  for (const emulate of ['4.4', '8.0'] as const) {
    const { cluster, run, primary } = await start(t, emulate)
    await run({ shardCollection: 'app.c', key: { a: 1 } })
    await run({ create: 'plain', $db: 'app' })
    for (const restarted of [false, true]) {
      if (restarted) {
        await cluster.crash(primary)
        await cluster.restart(primary)
      }
      t.match(await run({ renameCollection: 'app.c', to: 'app.d' }, primary), {
        code: 20,
        errmsg: 'source namespace cannot be sharded',
      })
      t.match(await run({ renameCollection: 'app.plain', to: 'app.c', dropTarget: true }, primary), {
        code: 20,
        errmsg: 'cannot rename to a sharded collection',
      })
    }
    t.match(await run({ renameCollection: 'app.plain', to: 'app.e' }, primary), { ok: 1 })
  }
})

t.test('a shardCollection whose primary shard crashes half-way completes after the restart', async (t) => {
  for (const emulate of ['4.4', '7.0', '8.0'] as const) {
    const { cluster, run, primary } = await start(t, emulate)
    const fault = await cluster.steps.arm('shard.create-collection.participants-ready', 'crash', { times: 1 })
    const sharding = run({ shardCollection: 'app.c', key: { a: 'hashed' } })
    await cluster.during(cluster.steps.struck(fault))
    await cluster.restart(primary)
    await cluster.advance(60_000)
    t.match(await run({ count: 'collections', query: { _id: 'app.c' }, $db: 'config' }), { n: 1 }, emulate)
    for (const shard of cluster.shards) t.match(await run({ listIndexes: 'c', $db: 'app' }, shard), { ok: 1 }, shard)
    const records = { count: 'system.sharding_ddl_coordinators', query: { _id: { $exists: true } }, $db: 'config' }
    t.match(await run(records, primary), { n: 0 })
    await sharding
  }
})

t.test('since 6.0 collMod and dropIndexes wait for a movePrimary of the database', async (t) => {
  for (const emulate of ['6.0.2', '6.0', '7.0', '8.0'] as const) {
    const { cluster, run, primary } = await start(t, emulate)
    await run({ shardCollection: 'app.c', key: { a: 1 } })
    await run({ create: 'plain', $db: 'app' })
    await run({ create: 'seen', viewOn: 'plain', pipeline: [], $db: 'app' })
    for (const name of ['c', 'plain'])
      await run({ createIndexes: name, indexes: [{ key: { b: 1 }, name: 'b_1' }], $db: 'app' })
    const fault = await cluster.steps.arm('shard.move-primary.cloned', 'hold', { times: 1 })
    const moving = run({ movePrimary: 'app', to: primary === 'shard01' ? 'shard02' : 'shard01' })
    await cluster.during(cluster.steps.struck(fault))
    let answered = 0
    const changes = [
      { collMod: 'c', validationLevel: 'off' },
      { collMod: 'plain', validationLevel: 'off' },
      { collMod: 'seen', viewOn: 'c', pipeline: [] },
      { dropIndexes: 'c', index: 'b_1' },
      { dropIndexes: 'plain', index: 'b_1' },
    ].map(async (change) => {
      const reply = await run({ ...change, $db: 'app' })
      answered++
      return reply
    })
    await cluster.advance(10_000)
    t.equal(answered, 0, `${emulate} they wait`)
    await cluster.steps.heal(fault)
    t.match(await moving, { ok: 1 })
    for (const change of changes) t.match(await change, { ok: 1 }, emulate)
    if (emulate === '7.0' || emulate === '8.0')
      t.same((await run({ checkMetadataConsistency: 1, $db: 'app' }))['cursor'].firstBatch, [])
  }
})

t.test('a movePrimary keeps the version of the index on _id', async (t) => {
  for (const emulate of ['4.0', '7.0', '8.0'] as const) {
    const { run, primary } = await start(t, emulate)
    const idIndex = { key: { _id: 1 }, name: '_id_', v: 1 }
    for (const name of ['plain', 'key']) await run({ create: name, idIndex, $db: 'app' })
    await run({ shardCollection: 'app.key', key: { _id: 1 } })
    t.match(await run({ movePrimary: 'app', to: primary === 'shard01' ? 'shard02' : 'shard01' }), { ok: 1 })
    for (const name of ['plain', 'key'])
      t.match((await run({ listIndexes: name, $db: 'app' }))['cursor'].firstBatch, [{ name: '_id_', v: 1 }], emulate)
  }
})

t.test('since 8.0 create waits for a movePrimary of the database, and fails with LockBusy in the end', async (t) => {
  for (const emulate of ['7.0', '8.0'] as const) {
    const { cluster, run, primary } = await start(t, emulate)
    await run({ create: 'plain', $db: 'app' })
    const fault = await cluster.steps.arm('shard.move-primary.cloned', 'hold', { times: 1 })
    const to = primary === 'shard01' ? 'shard02' : 'shard01'
    const moving = run({ movePrimary: 'app', to })
    await cluster.during(cluster.steps.struck(fault))
    if (emulate === '7.0') t.match(await run({ create: 'new', $db: 'app' }), { code: 319 })
    else {
      const refused = run({ create: 'late', $db: 'app' })
      await cluster.advance(300_000)
      t.match(await refused, { code: 46, errmsg: /app/ })
      const waiting = run({ create: 'new', $db: 'app' })
      await cluster.steps.heal(fault)
      t.match(await waiting, { ok: 1 })
      t.match(await run({ listIndexes: 'new', $db: 'app' }, to), { ok: 1 }, 'on the new primary shard')
    }
    if (emulate === '7.0') await cluster.steps.heal(fault)
    t.match(await moving, { ok: 1 })
    t.match(await run({ listIndexes: 'late', $db: 'app' }), { code: 26 })
  }
})

t.test('until 5.0 collMod and dropIndexes of a sharded collection take no lock', async (t) => {
  for (const emulate of ['4.4', '5.0'] as const) {
    const { cluster, run, primary } = await start(t, emulate)
    await run({ shardCollection: 'app.c', key: { a: 1 } })
    await run({ createIndexes: 'c', indexes: [{ key: { b: 1 }, name: 'b_1' }], $db: 'app' })
    const fault = await cluster.steps.arm('shard.move-primary.cloned', 'hold', { times: 1 })
    const moving = run({ movePrimary: 'app', to: primary === 'shard01' ? 'shard02' : 'shard01' })
    await cluster.during(cluster.steps.struck(fault))
    t.match(await run({ collMod: 'c', validationLevel: 'off', $db: 'app' }), { ok: 1 })
    t.match(await run({ dropIndexes: 'c', index: 'b_1', $db: 'app' }), { ok: 1 })
    await cluster.steps.heal(fault)
    t.match(await moving, { ok: 1 })
  }
})

t.test('concurrent collMods join when they are equal, and fail otherwise', async (t) => {
  const { cluster, run } = await start(t, '7.0')
  await run({ shardCollection: 'app.c', key: { a: 1 } })
  const fault = await cluster.steps.arm('shard.coll-mod.migrations-stopped', 'hold', { times: 1 })
  const change = { collMod: 'c', validationLevel: 'off', $db: 'app' }
  const changing = run(change)
  await cluster.during(cluster.steps.struck(fault))
  t.match(await run({ ...change, validationLevel: 'strict' }), {
    code: 117,
    errmsg:
      'Another collMod for namespace app.c is being executed with different parameters: { validationLevel: "off" }',
  })
  const joining = run(change)
  await cluster.steps.heal(fault)
  t.match(await changing, { ok: 1, raw: {} })
  t.match(await joining, { ok: 1, raw: {} })
})

t.test('no chunk moves during a collMod, and a crash of its coordinator does not change that', async (t) => {
  for (const crash of [false, true]) {
    const { cluster, run, primary } = await start(t, '7.0')
    const other = primary === 'shard01' ? 'shard02' : 'shard01'
    await run({ balancerStop: 1 })
    await run({ shardCollection: 'app.c', key: { a: 1 } })
    const committing = await cluster.steps.arm('shard.migration.committing', 'hold', { times: 1 })
    const moveChunk = { moveChunk: 'app.c', find: { a: 1 }, to: other }
    const moving = run(moveChunk)
    await cluster.during(cluster.steps.struck(committing))
    const stopped = await cluster.steps.arm('shard.coll-mod.migrations-stopped', crash ? 'crash' : 'hold', { times: 1 })
    const changing = run({ collMod: 'c', validationLevel: 'off', $db: 'app' })
    await cluster.during(cluster.steps.struck(stopped))
    t.match(await run({ count: 'collections', query: { permitMigrations: false }, $db: 'config' }), { n: 1 })
    await cluster.steps.heal(committing)
    if (crash) await cluster.restart(primary)
    else {
      t.match(await moving, { code: 117 })
      t.match(await run(moveChunk), { code: 117 })
      await cluster.steps.heal(stopped)
    }
    t.match(await changing, { ok: 1 }, crash ? 'a router repeats it' : 'it completes')
    await moving
    await cluster.advance(60_000)
    t.match(await run({ count: 'collections', query: { permitMigrations: false }, $db: 'config' }), { n: 0 })
    // A recipient that already has the collection keeps its options, as on the server.
    if (!crash) t.same((await run({ checkMetadataConsistency: 1, $db: 'app' }))['cursor'].firstBatch, [])
    t.match(await run(moveChunk), { ok: 1 })
    const records = { count: 'system.sharding_ddl_coordinators', query: { _id: { $exists: true } }, $db: 'config' }
    t.match(await run(records, primary), { n: 0 })
  }
})

t.test('dropIndexes runs once on each owner when a chunk moves meanwhile', async (t) => {
  const { cluster, run, primary } = await start(t, '7.0', 3)
  const others = cluster.shards.filter((shard) => shard !== primary)
  await run({ balancerStop: 1 })
  await run({ shardCollection: 'app.c', key: { a: 1 } })
  await run({ split: 'app.c', middle: { a: 0 } })
  await run({ moveChunk: 'app.c', find: { a: 0 }, to: others[0], _waitForDelete: true })
  await run({ createIndexes: 'c', indexes: [{ key: { b: 1 }, name: 'b_1' }], $db: 'app' })
  await cluster.faults.apply(`delay from ${primary} to ${others[0]} by 2s..2s for 3s`)
  const dropping = run({ dropIndexes: 'c', index: 'b_1', $db: 'app' })
  await cluster.advance(10)
  t.match(await run({ moveChunk: 'app.c', find: { a: 0 }, to: others[1] }), { ok: 1 }, 'before the delayed request')
  t.match(await dropping, { ok: 1 })
  for (const shard of [primary, others[1]!])
    t.same(
      (await run({ listIndexes: 'c', $db: 'app' }, shard))['cursor'].firstBatch.map(({ name }: Document) => name),
      ['_id_', 'a_1'],
      shard,
    )
})

t.test('a step that fails while a coordinator resumes does not end its member', async (t) => {
  for (const [step, command] of [
    ['shard.create-collection.participants-ready', { shardCollection: 'app.c', key: { a: 'hashed' } }],
    ['shard.coll-mod.migrations-stopped', { collMod: 'sharded', $db: 'app' }],
  ] as const) {
    const { cluster, run, primary } = await start(t, '7.0')
    await run({ shardCollection: 'app.sharded', key: { a: 1 } })
    const crash = await cluster.steps.arm(step, 'crash', { times: 1 })
    const running = run(command)
    await cluster.during(cluster.steps.struck(crash))
    const fail = await cluster.steps.arm(step, 'fail', { times: 1 })
    await cluster.restart(primary)
    await cluster.during(cluster.steps.struck(fail))
    await cluster.advance(60_000)
    await running
    t.equal(cluster.members().find(({ address }) => address === primary)!.state, 'running', step)
    t.match(await run(command), { ok: 1 }, step)
  }
})
