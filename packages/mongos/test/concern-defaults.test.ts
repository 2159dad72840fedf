/** Manual: reference/command/setDefaultRWConcern. */
import t from 'tap'
import type { Document } from '@shardlab/bson'
import { cursorReply } from './support/fake-cluster.js'
import { threeShards } from './support/three-shards.js'

const admin = { $db: 'admin' }

async function withDefaults(defaults: Document, options = {}) {
  const cluster = threeShards(options)
  cluster.script((_shard, _command, name) =>
    name === 'insert' ? { n: 1, ok: 1 } : name === 'count' ? { n: 1, ok: 1 } : cursorReply([]),
  )
  cluster.settings.set('ReadWriteConcernDefaults', defaults)
  await cluster.mongos.start!()
  await cluster.world.fire(cluster.mongos, 'ping')
  const sent = async (command: Document) => {
    await cluster.run(command)
    return cluster.commandsTo('shard01').at(-1)!.body
  }
  return { cluster, sent }
}

t.test('commands without a concern go to the shards with the default one', async (t) => {
  const provenance = 'customDefault'
  const { sent } = await withDefaults({
    defaultReadConcern: { level: 'available' },
    defaultWriteConcern: { w: 1, wtimeout: 5 },
  })
  const read = { readConcern: { level: 'available', provenance } }
  for (const command of [
    { find: 'c' },
    { find: 'c', readConcern: {} },
    { aggregate: 'c', pipeline: [], cursor: {} },
    { count: 'c', query: { y: 1 } },
  ])
    t.match(await sent(command), read, JSON.stringify(command))
  const write = { writeConcern: { w: 1, wtimeout: 5, provenance } }
  t.match(await sent({ insert: 'c', documents: [{ _id: 1, x: -1 }] }), write)
  t.notOk('readConcern' in (await sent({ insert: 'c', documents: [{ _id: 1, x: -1 }] })), 'what takes none gets none')
  t.same(
    (await sent({ find: 'c', readConcern: { level: 'majority' } }))['readConcern'],
    { level: 'majority' },
    'a command may name its own',
  )
  t.same(
    (await sent({ insert: 'c', documents: [{ _id: 1, x: -1 }], writeConcern: { w: 'majority' } }))['writeConcern'],
    { w: 'majority' },
  )
})

t.test('without a default, commands go to the shards unchanged', async (t) => {
  const { sent } = await withDefaults({ defaultWriteConcern: { w: 1, wtimeout: 0 } })
  t.notOk('readConcern' in (await sent({ find: 'c' })))
  const cluster = threeShards()
  cluster.script(() => ({ n: 1, ok: 1 }))
  await cluster.run({ insert: 'c', documents: [{ _id: 1, x: -1 }] })
  t.notOk('writeConcern' in cluster.commandsTo('shard01')[0]!.body)
})

t.test('a default that no shard can satisfy is reported by every write without a concern', async (t) => {
  const { cluster } = await withDefaults({ defaultWriteConcern: { w: 2, wtimeout: 0 } })
  cluster.onShardExchange = () => ({ existed: true, indexCount: 1, error: null })
  t.match(await cluster.run({ drop: 'c' }), {
    ok: 1,
    writeConcernError: { code: 100, errInfo: { writeConcern: { w: 2, wtimeout: 0, provenance: 'customDefault' } } },
  })
  t.notOk('writeConcernError' in (await cluster.run({ drop: 'c', writeConcern: { w: 1 } })))
})

t.test('setDefaultRWConcern goes to the config server and applies to this router at once', async (t) => {
  const cluster = threeShards()
  cluster.script(() => cursorReply([]))
  const settings = { _id: 'ReadWriteConcernDefaults', defaultReadConcern: { level: 'majority' } }
  cluster.scripts.set('config', (command) => {
    t.equal(command.db, 'admin')
    cluster.settings.set('ReadWriteConcernDefaults', settings)
    return { defaultReadConcern: { level: 'majority' }, ok: 1 }
  })
  t.match(await cluster.run({ setDefaultRWConcern: 1, defaultReadConcern: { level: 'majority' }, ...admin }), {
    defaultReadConcern: { level: 'majority' },
    ok: 1,
  })
  t.match(await cluster.run({ getDefaultRWConcern: 1, inMemory: true, ...admin }), {
    defaultReadConcern: { level: 'majority' },
    defaultReadConcernSource: 'global',
    defaultWriteConcernSource: 'implicit',
  })
  await cluster.run({ find: 'c' })
  t.match(cluster.commandsTo('shard01').at(-1)!.body, { readConcern: { level: 'majority' } })
  t.match(await cluster.run({ setDefaultRWConcern: 1 }), { code: 13 }, 'of the admin database')
  t.match(await threeShards({ emulate: '4.0' }).run({ setDefaultRWConcern: 1, ...admin }), { code: 59 })
})
