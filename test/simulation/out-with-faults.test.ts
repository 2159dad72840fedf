/** $out while members crash, step down, or have a full disk. */
import { decode, encode, type Document } from '@shardlab/bson'
import type { SimulatedCluster, SimulatedClusterOptions } from '@shardlab/cluster'
import t, { type Test } from 'tap'
import { ask, start } from './two-shard-cluster.js'

const plainSource = [{ $out: 'copy' }]

/**
 * Starts a cluster and an $out that has created its temporary collection on shard01 and waits for a
 * command of a shard. `writing` is the reply of the pipeline.
 */
async function startWriting(
  t: Test,
  options: SimulatedClusterOptions = {},
  [command, shard]: readonly [string, string] = ['insert', 'shard01'],
) {
  const cluster = await start(t, options)
  t.match(await ask(cluster, { insert: 'copy', documents: [{ _id: 'old' }] }), { n: 1 })
  const many = Array.from({ length: 200 }, (_, i) => ({ _id: 10 + i, x: 10 + i }))
  t.match(await ask(cluster, { insert: 'things', documents: many }), { n: 200 })
  const block = { failCommands: [command], blockConnection: true, blockTimeMS: 5000, failInternalCommands: true }
  t.match(
    await cluster.command(
      encode({ configureFailPoint: 'failCommand', mode: { times: 1 }, data: block, $db: 'admin' }),
      { to: shard },
    ),
    {},
  )
  const writing = cluster
    .commandInBackground(encode({ aggregate: 'things', pipeline: plainSource, cursor: {}, $db: 'app' }), {
      to: 'mongos01',
    })
    .then(
      (reply) => decode(reply),
      (error: Error) => ({ lost: error.message }),
    )
  await cluster.advance(1000)
  return { cluster, writing }
}

/** Further collections of the database besides the two of the test. */
async function temporaryCollections(cluster: SimulatedCluster): Promise<Document[]> {
  const reply = await ask(cluster, { listCollections: 1 }, 'mongos02')
  return (reply['cursor'].firstBatch as Document[]).filter(({ name }) => name !== 'things' && name !== 'copy')
}

const copied = async (cluster: SimulatedCluster) =>
  ((await ask(cluster, { find: 'copy' }, 'mongos02'))['cursor'].firstBatch as Document[]).map(
    ({ _id }) => _id as unknown,
  )

for (const emulate of ['4.4', '8.0'] as const) {
  t.test(`$out on a full disk leaves no temporary collection, ${emulate}`, async (t) => {
    const { cluster, writing } = await startWriting(t, { emulate, members: 1 })
    t.match(
      await temporaryCollections(cluster),
      [{ name: /^tmp\.agg_out\./, options: { temp: true } }],
      'listed as on the server',
    )
    await cluster.faults.apply('fill disk of shard01')
    await cluster.advance(10_000)
    t.match(await writing, { ok: 0, code: 14_031 })
    t.same(await temporaryCollections(cluster), [])
    t.same(await copied(cluster), ['old'])
    await cluster.faults.heal()
    t.match(await ask(cluster, { aggregate: 'things', pipeline: plainSource, cursor: {} }), { ok: 1 })
    t.match(await temporaryCollections(cluster), [])
    t.same((await copied(cluster)).length, 101)
    await cluster.crash('shard01')
    await cluster.restart('shard01')
    t.same((await copied(cluster)).length, 101, 'the collection that replaced the target stays')
  })
}

t.test('D905 a shard drops the temporary collections of a lost router when it starts or steps up', async (t) => {
  for (const faults of [
    ['crash shard01', 'restart shard01'],
    ['step down shard01', 'heal'],
  ]) {
    const { cluster, writing } = await startWriting(t)
    await cluster.crash('mongos01')
    await cluster.advance(20_000)
    t.match(await writing, { lost: /./ })
    t.match(await temporaryCollections(cluster), [{ options: { temp: true } }])
    for (const fault of faults) await (fault === 'heal' ? cluster.faults.heal() : cluster.faults.apply(fault))
    await cluster.advance(20_000)
    t.same(await temporaryCollections(cluster), [])
    t.same(await copied(cluster), ['old'])
  }
})

t.test('$out whose temporary collection is dropped fails and keeps its target', async (t) => {
  for (const waitsFor of [
    ['insert', 'shard01'],
    ['getMore', 'shard02'],
  ] as const) {
    const { cluster, writing } = await startWriting(t, { members: 1 }, waitsFor)
    await cluster.faults.apply('step down shard01')
    await cluster.faults.heal()
    await cluster.advance(20_000)
    t.match(await writing, { ok: 0, code: 6, errmsg: 'operation was interrupted' })
    t.same(await temporaryCollections(cluster), [])
    t.same(await copied(cluster), ['old'])
  }
})

t.test('clients cannot create temporary collections', async (t) => {
  const cluster = await start(t)
  const refused = { ok: 0, code: 72, errmsg: "the 'temp' field is an invalid option" }
  for (const to of ['mongos01', 'shard01']) t.match(await ask(cluster, { create: 'mine', temp: true }, to), refused)
  t.match(await ask(cluster, { create: 'mine', temp: false }), { ok: 1 })
})
