/** Definitions on the catalog, on shards and during other changes. */
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster } from '@shardlab/cluster'
import type { EmulatedVersion } from '@shardlab/sharding'
import t, { type Test } from 'tap'

async function start(t: Test, emulate: EmulatedVersion) {
  const cluster = await createSimulatedCluster({ seed: 1, shards: 2, emulate })
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

t.test('D853 a collMod during movePrimary can leave other options on the new primary shard', async (t) => {
  const { cluster, run, primary } = await start(t, '7.0')
  await run({ shardCollection: 'app.c', key: { a: 1 } })
  const fault = await cluster.steps.arm('shard.move-primary.cloned', 'hold', { times: 1 })
  const moving = run({ movePrimary: 'app', to: primary === 'shard01' ? 'shard02' : 'shard01' })
  await cluster.during(cluster.steps.struck(fault))
  const change = { collMod: 'c', validationLevel: 'off', $db: 'app' }
  t.match(await run(change), { ok: 1 })
  await cluster.steps.heal(fault)
  t.match(await moving, { ok: 1 })
  const inconsistencies = async () => (await run({ checkMetadataConsistency: 1, $db: 'app' }))['cursor'].firstBatch
  t.match(await inconsistencies(), [{ type: 'CollectionOptionsMismatch' }])
  t.match(await run(change), { ok: 1 })
  t.same(await inconsistencies(), [], 'repeating it corrects them')
})
