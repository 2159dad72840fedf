/**
 * A shard key is refined during a migration: the migration aborts, and its range keeps its owner.
 */
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import t from 'tap'

const [recipient, donor] = ['shard01', 'shard02']
const documents = 20
const cut = 10
/** Longer than orphans are kept. */
const cleanupMs = 1_000_000

async function run(cluster: SimulatedCluster, command: Document, to = 'mongos01'): Promise<Document> {
  return decode(await cluster.command(encode(command), { to }), { promoteLongs: true })
}

for (const crashes of [true, false]) {
  t.test(crashes ? 'the donor crashes and recovers after it' : 'the donor finds it out when it commits', async (t) => {
    const cluster = await createSimulatedCluster({ seed: 5, shards: 2, emulate: '8.0' })
    t.teardown(() => cluster.stop())
    await run(cluster, { balancerStop: 1, $db: 'admin' })
    await run(cluster, { enableSharding: 'app', primaryShard: recipient, $db: 'admin' })
    await run(cluster, { shardCollection: 'app.c', key: { k: 1 }, $db: 'admin' })
    await run(cluster, { createIndexes: 'c', indexes: [{ key: { k: 1, r: 1 }, name: 'k_r' }], $db: 'app' })
    const all = Array.from({ length: documents }, (_, k) => ({ _id: k, k, r: 0 }))
    await run(cluster, { insert: 'c', documents: all, $db: 'app' })
    await run(cluster, { split: 'app.c', middle: { k: cut }, $db: 'admin' })
    await run(cluster, { moveChunk: 'app.c', find: { k: cut }, to: donor, _waitForDelete: true, $db: 'admin' })

    const fault = await cluster.steps.arm(`shard.migration.${crashes ? 'committing' : 'caught-up'}`, 'hold', {
      times: 1,
    })
    const moving = run(cluster, { moveChunk: 'app.c', find: { k: cut }, to: recipient, $db: 'admin' })
    await cluster.steps.struck(fault)
    if (crashes) await cluster.crash(donor)
    t.match(await run(cluster, { refineCollectionShardKey: 'app.c', key: { k: 1, r: 1 }, $db: 'admin' }), { ok: 1 })
    if (crashes) await cluster.restart(donor)
    else await cluster.steps.heal(fault)
    t.equal((await moving)['ok'], 0)
    await cluster.advance(cleanupMs)

    const found = async (to?: string) =>
      (await run(cluster, { find: 'c', batchSize: 1000, sort: { k: 1 }, $db: 'app' }, to))['cursor']
        .firstBatch as Document[]
    t.same(await found(), all)
    t.same(await found(donor), all.slice(cut))
    t.same(await found(recipient), all.slice(0, cut))
    for (const shard of cluster.shards) {
      for (const name of ['rangeDeletions', 'migrationCoordinators'])
        t.same((await run(cluster, { find: name, $db: 'config' }, shard))['cursor'].firstBatch, [], `${shard} ${name}`)
    }
  })
}
