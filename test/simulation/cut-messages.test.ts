/** Messages that the server cuts inside a character keep its first bytes, which are not UTF-8. */
import { encode, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { ask, start } from './two-shard-cluster.js'

const long = `a${'é'.repeat(100)}`
const cut = Buffer.concat([Buffer.from(`"a${'é'.repeat(74)}`), Buffer.from([0xc3]), Buffer.from('...')])

for (const emulate of ['4.0', '7.0', '8.0'] as EmulatedVersion[]) {
  t.test(`a duplicate key that is cut inside a character, ${emulate}`, async (t) => {
    const cluster = await start(t, { emulate })
    t.match(await ask(cluster, { insert: 'plain', documents: [{ _id: long }] }), { n: 1 })
    const keeps = async (command: Document, to = 'mongos01') => {
      const reply = await cluster.command(encode({ ...command, $db: 'app' }), { to })
      t.ok(Buffer.from(reply).includes(cut), `${Object.keys(command)[0]} to ${to}`)
    }
    for (const to of ['mongos01', 'shard01']) {
      await keeps({ insert: 'plain', documents: [{ _id: long }] }, to)
      await keeps({ insert: 'plain', documents: [{ _id: long }, { _id: 1 }], ordered: false }, to)
      await keeps({ findAndModify: 'plain', query: { _id: long, x: 1 }, update: { $set: { x: 1 } }, upsert: true }, to)
    }
  })
}
