/** Server: get_last_error.cpp, cluster_get_last_error_cmd.cpp. */
import { encode, type Document } from '@shardlab/bson'
import { ShardedCluster } from 'shardlab'
import t from 'tap'
import { RawClient } from '../support/raw-client.js'

async function connected(endpoint: string) {
  const client = await RawClient.connect(endpoint)
  return {
    close: () => client.close(),
    run: (command: Document): Promise<Document> => client.command({ ...command, $db: 'gle' }),
    /** Without the times of the reply. */
    async last(more: Document = {}): Promise<Document> {
      const reply = await client.command({ getlasterror: 1, ...more, $db: 'gle' })
      for (const name of ['operationTime', '$clusterTime']) delete reply[name]
      return reply
    },
  }
}

const endpointOf = (uri: string): string => new URL(uri.replace('mongodb:', 'http:')).host

t.test('getLastError reports the outcome of the last command of its own connection', async (t) => {
  await using cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline', emulate: '4.4' })
  const shard = endpointOf(cluster.shards[0]!.uri)
  const router = await connected(cluster.mongos[0]!)
  const other = await connected(cluster.mongos[0]!)
  const none = { n: 0, shards: [], shardRawGLE: {}, err: null, ok: 1 }
  t.same(await router.last(), none)
  await router.run({ insert: 'c', documents: [{ _id: 1 }, { _id: 2 }] })
  t.same(await router.last(), { n: 0, singleShard: shard, err: null, ok: 1 })
  t.same(await other.last(), none, 'another connection')
  await router.run({ update: 'c', updates: [{ q: {}, u: { $set: { a: 1 } }, multi: true }] })
  t.same(await router.last(), { updatedExisting: true, n: 2, singleShard: shard, err: null, ok: 1 })
  t.same((await router.last())['n'], 2, 'getLastError keeps it')
  await router.run({ update: 'c', updates: [{ q: { _id: 3 }, u: { a: 3 }, upsert: true }] })
  t.match(await router.last(), { updatedExisting: false, upserted: 3, n: 1 })
  await router.run({ delete: 'c', deletes: [{ q: {}, limit: 0 }] })
  t.match(await router.last(), { n: 3, err: null })
  await router.run({ insert: 'c', documents: [{ _id: 1 }, { _id: 1 }] })
  t.match(await router.last(), {
    err: /^E11000/,
    code: 11000,
    codeName: 'DuplicateKey',
    n: 0,
    singleShard: shard,
    ok: 1,
  })
  await router.run({ ping: 1 })
  t.same(await router.last(), none)
  await router.run({ find: 'c', filter: { $x: 1 } })
  t.match(await router.last(), { err: 'unknown top level operator: $x', code: 2 })
  await router.run({ insert: 'c', documents: [{}] })
  t.match(await router.last({ w: 3 }), { ok: 0, code: 100 })
  router.close()
  other.close()
})

t.test('getLastError of a shard, and its refusal since 5.1', async (t) => {
  await using cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline', emulate: '5.0' })
  const shard = await connected(endpointOf(cluster.shards[0]!.uri))
  await shard.run({ insert: 'c', documents: [{ _id: 1 }] })
  t.match(await shard.last(), { n: 0, syncMillis: 0, writtenTo: null, err: null, ok: 1 })
  await shard.run({ update: 'c', updates: [{ q: { _id: 1 }, u: { a: 1 } }] })
  t.match(await shard.last({ w: 'majority' }), { updatedExisting: true, n: 1, err: null })
  t.match(await shard.last({ w: 'nowhere' }), { ok: 0, code: 79 })
  shard.close()
  await using newer = await ShardedCluster.start({ shards: 1, runtime: 'inline', emulate: '6.0' })
  const router = await connected(newer.mongos[0]!)
  const removed = await connected(endpointOf(newer.shards[0]!.uri))
  t.match(await router.last(), { ok: 0, code: 5739001, errmsg: 'getLastError command is not supported' })
  t.match(await removed.last(), { ok: 0, code: 5739000, errmsg: 'getLastError command is not supported' })
  router.close()
  removed.close()
})

t.test('a message that is cut inside of a character keeps its bytes', async (t) => {
  await using cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline', emulate: '4.0' })
  const router = await RawClient.connect(cluster.mongos[0]!)
  const value = `a${'\u00e9'.repeat(700)}`
  await router.command({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1', unique: true }], $db: 'gle' })
  await router.command({ insert: 'c', documents: [{ _id: 1, a: value }, { _id: 2 }], $db: 'gle' })
  const update = { update: 'c', updates: [{ q: { _id: 2 }, u: { $set: { a: value } } }], $db: 'gle' }
  const cut = Buffer.from([0xc3, 0xa9, 0xc3, ...Buffer.from('...')])
  for (const command of [update, { getlasterror: 1, $db: 'gle' }])
    t.ok(Buffer.from(await router.commandBytes(encode(command))).includes(cut), Object.keys(command)[0]!)
  router.close()
})
