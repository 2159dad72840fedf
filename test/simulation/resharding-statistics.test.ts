/** Counters of reshardings in serverStatus. */
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import t from 'tap'

async function admin(cluster: SimulatedCluster, command: Document, to = 'mongos01'): Promise<Document> {
  return decode(await cluster.command(encode({ ...command, $db: command['$db'] ?? 'admin' }), { to }), {
    promoteLongs: true,
  })
}

for (const emulate of ['5.0', '6.0.2', '7.0', '8.0'] as const) {
  t.test(`serverStatus counts reshardings since 6.0, ${emulate}`, async (t) => {
    const cluster = await createSimulatedCluster({ seed: 1, shards: 2, emulate })
    t.teardown(() => cluster.stop())
    const sections = async (member: string): Promise<Document> =>
      (await admin(cluster, { serverStatus: 1 }, member))['shardingStatistics'] as Document
    const ns = 'app.things'
    t.match(await admin(cluster, { enableSharding: 'app', primaryShard: 'shard01' }), { ok: 1 })
    t.match(await admin(cluster, { shardCollection: ns, key: { x: 1 } }), { ok: 1 })
    t.match(
      await admin(cluster, {
        insert: 'things',
        documents: [1, 2, 3, 4].map((x) => ({ _id: x, x, y: -x })),
        $db: 'app',
      }),
      { n: 4 },
    )
    t.notOk('resharding' in (await sections('config')), 'nothing is told before the first one')
    t.match(await admin(cluster, { addShardToZone: 'shard02', zone: 'far' }), { ok: 1 })
    const zones = [{ min: { y: -100 }, max: { y: 100 }, zone: 'far' }]
    t.match(await admin(cluster, { reshardCollection: ns, key: { y: 1 }, zones, numInitialChunks: 1 }), { ok: 1 })
    const held = await cluster.faults.apply('hold at config.resharding.cloned')
    const given = admin(cluster, { reshardCollection: ns, key: { x: 1 }, zones: [], numInitialChunks: 1 })
    for (let i = 0; i < 100 && cluster.faults.list()[0]!.strikes === 0; i++) await cluster.advance(100)
    const during = await sections('config')
    const aborting = admin(cluster, { abortReshardCollection: ns })
    await cluster.advance(100)
    await cluster.faults.heal(held.id)
    t.match(await aborting, { ok: 1 })
    t.match(await given, { ok: 0, code: 341 })
    const [config, recipient] = [await sections('config'), await sections('shard02')]
    if (emulate === '5.0') return t.notOk('resharding' in config)
    t.match(during['resharding'], {
      countStarted: 2,
      countSucceeded: 1,
      currentInSteps: { countInstancesInCoordinatorState3Cloning: 1 },
    })
    t.match(config['resharding'], {
      ...{ countStarted: 2, countSucceeded: 1, countFailed: 0, countCanceled: 1 },
      currentInSteps: { countInstancesInCoordinatorState3Cloning: 0 },
    })
    t.match(recipient['resharding'], { countStarted: 0, active: { documentsCopied: 4, oplogEntriesApplied: 0 } })
    const fields = Object.keys(config['resharding'].active as Document)
    t.equal(
      fields.indexOf('oplogEntriesFetched') < fields.indexOf('countWritesToStashCollections'),
      emulate === '6.0.2',
    )
    t.equal('countSameKeyStarted' in config['resharding'], emulate === '8.0')
    t.equal(
      config['resharding'].oldestActive.recipientRemainingOperationTimeEstimatedMillis,
      emulate === '8.0' ? -1 : 0,
    )
    const building = 'countInstancesInRecipientState4BuildingIndex'
    t.equal(building in config['resharding'].currentInSteps, emulate === '8.0')
    if (emulate !== '8.0') return undefined
    t.match(await admin(cluster, { create: 'alone', $db: 'app' }), { ok: 1 })
    t.match(await admin(cluster, { moveCollection: 'app.alone', toShard: 'shard02' }), { ok: 1 })
    const moved = await sections('config')
    t.match(moved['moveCollection'], { countStarted: 1, countSucceeded: 1, lastOpEndingChunkImbalance: 1 })
    t.notOk('countSameKeyStarted' in moved['moveCollection'])
    t.equal(moved['resharding'].countStarted, 2, 'each kind counts for itself')
    return undefined
  })
}
