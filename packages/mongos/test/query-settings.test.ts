import { encode, type Document } from '@shardlab/bson'
import { queryShape, queryShapeHash } from '@shardlab/query'
import t from 'tap'
import { cursorReply } from './support/fake-cluster.js'
import { threeShards } from './support/three-shards.js'

t.test('a router learns query settings with its next ping, and passes them to the shards', async (t) => {
  const cluster = threeShards({ emulate: '8.0' })
  cluster.script(() => cursorReply([]))
  const find = { find: 'c', filter: { a: 1 }, comment: 'x' }
  const sent = async () => {
    await cluster.run(find)
    return cluster.commandsTo('shard01').at(-1)!.body as Document
  }
  t.notOk('querySettings' in (await sent()))
  const settings = { indexHints: { ns: { db: 'test', coll: 'c' }, allowedIndexes: ['a_1'] } }
  const configuration = (of: Document) => ({
    queryShapeHash: queryShapeHash(queryShape(encode({ find: 'c', filter: { a: 0 } }), 'test')!),
    settings: of,
  })
  cluster.settings.set('querySettings', { _id: 'querySettings', settingsArray: [configuration(settings)] })
  t.notOk('querySettings' in (await sent()))
  await cluster.world.fire(cluster.mongos, 'ping')
  t.same((await sent())['querySettings'], settings)
  await cluster.run({ ...find, filter: { a: { $gt: 1 } } })
  t.notOk('querySettings' in cluster.commandsTo('shard01').at(-1)!.body, 'of another shape')
  cluster.settings.set('querySettings', { _id: 'querySettings', settingsArray: [configuration({ reject: true })] })
  await cluster.world.fire(cluster.mongos, 'ping')
  t.match(await cluster.run(find), { code: 411, codeName: 'QueryRejectedBySettings' })
  cluster.settings.set('querySettings', { _id: 'querySettings', settingsArray: [] })
  await cluster.world.fire(cluster.mongos, 'ping')
  t.notOk('querySettings' in (await sent()))
})
