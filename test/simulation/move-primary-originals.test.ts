/**
 * Commands that place a collection on the old primary shard, between the commit of movePrimary and
 * the drop of its originals.
 */
import { createRandom } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster } from '@shardlab/cluster'
import t from 'tap'
import { PatientClient } from './patient-client.js'

const documents = 40

const placements = [
  {
    name: 'shardCollection',
    command: { shardCollection: 'app.empty', key: { _id: 'hashed' } },
    ns: 'empty',
    since: '4.0',
  },
  {
    name: 'reshardCollection',
    command: { reshardCollection: 'app.sharded', key: { y: 'hashed' }, numInitialChunks: 4 },
    ns: 'sharded',
    since: '5.0',
  },
  { name: 'moveCollection', command: { moveCollection: 'app.empty', toShard: 'shard01' }, ns: 'empty', since: '8.0' },
] as const

t.test('collections are placed on the old primary shard only when it has dropped its originals', async (t) => {
  for (const emulate of ['4.0', '6.0', '7.0', '8.0'] as const) {
    for (const { name, command, ns } of placements.filter(({ since }) => emulate >= since)) {
      for (const victim of [null, 'shard01', 'shard02']) {
        const title = `${emulate} ${name}, ${victim === null ? 'no crash' : `${victim} crashes`}`
        await using cluster = await createSimulatedCluster({ seed: 1, shards: 2, emulate })
        const client = new PatientClient(cluster, createRandom(1))
        await client.untilDone({ enableSharding: 'app', primaryShard: 'shard01', $db: 'admin' })
        await client.untilDone({ create: 'empty', $db: 'app' })
        await client.untilDone({ shardCollection: 'app.sharded', key: { _id: 1 }, $db: 'admin' })
        const rows = Array.from({ length: documents }, (_, _id) => ({ _id, y: _id }))
        await client.writeRetryably({ command: { insert: 'sharded', $db: 'app' }, documents: rows, field: 'documents' })
        const fault = await cluster.steps.arm('shard.move-primary.committed', 'hold', { times: 1 })
        const moving = new PatientClient(cluster, createRandom(2)).once({
          movePrimary: 'app',
          to: 'shard02',
          $db: 'admin',
        })
        await cluster.steps.struck(fault)
        if (victim !== null) await cluster.crash(victim)
        if (victim === 'shard02') await cluster.restart(victim)
        let placed: Document | null = null
        const placing = client.untilDone({ ...command, $db: 'admin' }).then((reply) => (placed = reply))
        await cluster.advance(5000)
        t.equal(placed, null, `${title}: it waits`)
        await cluster.steps.heal(fault)
        if (victim === 'shard01') await cluster.restart(victim)
        await moving
        t.match(await placing, { ok: 1 }, title)
        if (ns === 'empty')
          await client.writeRetryably({ command: { insert: ns, $db: 'app' }, documents: rows, field: 'documents' })
        const { n } = (await client.once({ count: ns, query: {}, $db: 'app' }))!
        t.equal(n, documents, title)
        const local = decode(
          await cluster.command(encode({ listCollections: 1, nameOnly: true, $db: 'app' }), { to: 'shard01' }),
        )
        const names = (local['cursor'] as Document)['firstBatch'].map((each: Document) => each['name'])
        t.ok(names.includes(ns), `${title}: the old primary shard has the collection`)
      }
    }
  }
})
