/** Field order and types of each version. Manual: reference/config-database. */
import { packChunks } from '@shardlab/actor'
import { decode, encode } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { ConfigUnderTest, shape, uuid } from './support/config.js'

/** Without fields, because bounds differ from chunk to chunk. */
const bounds = 'min:{} max:{}'

async function shapes(version: EmulatedVersion): Promise<Record<string, string>> {
  const config = await new ConfigUnderTest(version).initialised()
  await config.createDatabase('db')
  await config.createCollection('db.c', [0])
  await config.send('config.mongos-ping', { host: 'h:27017', version: '7.0.25', createdMs: 5, upSeconds: 6 })
  await config.send('config.log-change', {
    what: 'shardCollection.start',
    ns: 'db.c',
    details: Buffer.from([5, 0, 0, 0, 0]),
    from: 'shard01:h:1',
  })
  const found: Record<string, string> = {}
  for (const collection of [
    'shards',
    'databases',
    'collections',
    'chunks',
    'version',
    'settings',
    'mongos',
    'changelog',
  ]) {
    const documents = await config.raw(collection)
    const all = [
      ...new Set(documents.map((document) => shape(document).replace(/min:\{[^}]*\} max:\{[^}]*\}/, bounds))),
    ]
    t.equal(all.length, 1, `${version} ${collection}: one shape`)
    found[collection] = all[0]!
  }
  return found
}

const common = {
  shards: '_id:string host:string state:int topologyTime:timestamp',
  settings: '_id:string value:int',
  mongos: '_id:string advisoryHostFQDNs:[] created:date mongoVersion:string ping:date up:long waiting:bool',
  changelog: '_id:string server:string shard:string clientAddr:string time:date what:string ns:string details:{}',
}
const changelog4 = '_id:string server:string clientAddr:string time:date what:string ns:string details:{}'
const version6 = '_id:int minCompatibleVersion:int currentVersion:int clusterId:objectId'
const collections5 =
  '_id:string lastmodEpoch:objectId lastmod:date timestamp:timestamp uuid:binData key:{a:int} unique:bool noBalance:bool'
const history = 'history:[0:{validAfter:timestamp shard:string}]'

t.test('2.6 (D821)', async (t) => {
  t.same(await shapes('2.6'), {
    ...common,
    shards: '_id:string host:string',
    databases: '_id:string primary:string partitioned:bool version:{uuid:binData lastMod:int}',
    collections: '_id:string lastmodEpoch:objectId lastmod:date dropped:bool key:{a:int} unique:bool uuid:binData',
    chunks: `_id:string lastmod:timestamp lastmodEpoch:objectId ns:string ${bounds} shard:string`,
    version: '_id:int version:int minCompatibleVersion:int currentVersion:int clusterId:objectId',
    mongos: '_id:string mongoVersion:string ping:date up:int waiting:bool',
    changelog: changelog4,
  })
})

t.test('4.0', async (t) => {
  t.same(await shapes('4.0'), {
    ...common,
    shards: '_id:string host:string state:int',
    databases: '_id:string primary:string partitioned:bool version:{uuid:binData lastMod:int}',
    collections: '_id:string lastmodEpoch:objectId lastmod:date dropped:bool key:{a:int} unique:bool uuid:binData',
    chunks: `_id:string ns:string ${bounds} shard:string lastmod:timestamp lastmodEpoch:objectId ${history}`,
    version: version6,
    mongos: '_id:string advisoryHostFQDNs:[] mongoVersion:string ping:date up:long waiting:bool',
    changelog: changelog4,
  })
})

t.test('4.4', async (t) => {
  t.same(await shapes('4.4'), {
    ...common,
    shards: '_id:string host:string state:int',
    mongos: '_id:string advisoryHostFQDNs:[] mongoVersion:string ping:date up:long waiting:bool',
    databases: '_id:string primary:string partitioned:bool version:{uuid:binData lastMod:int}',
    collections:
      '_id:string lastmodEpoch:objectId lastmod:date dropped:bool key:{a:int} unique:bool uuid:binData distributionMode:string',
    chunks: `_id:objectId ns:string ${bounds} shard:string lastmod:timestamp lastmodEpoch:objectId ${history}`,
    version: version6,
  })
})

t.test('5.0', async (t) => {
  t.same(await shapes('5.0'), {
    ...common,
    mongos: '_id:string advisoryHostFQDNs:[] mongoVersion:string ping:date up:long waiting:bool',
    databases: '_id:string primary:string partitioned:bool version:{uuid:binData timestamp:timestamp lastMod:int}',
    collections: collections5,
    chunks: `_id:objectId uuid:binData ${bounds} shard:string lastmod:timestamp ${history}`,
    version: version6,
  })
})

t.test('6.0', async (t) => {
  t.match(await shapes('6.0.2'), { mongos: common.mongos })
  t.same(await shapes('6.0'), {
    ...common,
    databases: '_id:string primary:string partitioned:bool version:{uuid:binData timestamp:timestamp lastMod:int}',
    collections: collections5,
    chunks: `_id:objectId uuid:binData ${bounds} shard:string lastmod:timestamp ${history}`,
    version: version6,
  })
})

t.test('7.0', async (t) => {
  t.same(await shapes('7.0'), {
    ...common,
    databases: '_id:string primary:string partitioned:bool version:{uuid:binData timestamp:timestamp lastMod:int}',
    collections: collections5,
    chunks: `_id:objectId uuid:binData ${bounds} shard:string lastmod:timestamp onCurrentShardSince:timestamp ${history}`,
    version: '_id:int clusterId:objectId',
  })
})

t.test('8.0', async (t) => {
  t.match(await shapes('8.0'), { shards: `${common.shards} replSetConfigVersion:long` })
  const config = await new ConfigUnderTest('8.0').initialised()
  const [shard] = await config.all('shards')
  t.equal(String(shard!['replSetConfigVersion']), '-1', 'as long as the replica set has not changed')
})

t.test('ids of chunks contain their range before 4.4', async (t) => {
  for (const version of ['2.6', '4.0'] as const) {
    const config = await new ConfigUnderTest(version).initialised()
    await config.createDatabase('db')
    await config.createCollection('db.c', [0, 5])
    t.same(
      (await config.all('chunks')).map((chunk) => chunk['_id']),
      ['db.c-a_0', 'db.c-a_5', 'db.c-a_MinKey'],
      version,
    )
  }
})

t.test(
  'the collections of the catalog, no placement history among them (D822), and the size of its logs',
  async (t) => {
    const expected: [EmulatedVersion, names: string[], megabytes: [changelog: number, actionlog: number]][] = [
      ['2.6', ['lockpings', 'locks'], [10, 2]],
      ['4.0', ['lockpings', 'locks', 'migrations'], [10, 2]],
      ['5.0', ['lockpings', 'locks', 'migrations'], [200, 20]],
      ['6.0', ['lockpings', 'locks'], [200, 20]],
      ['7.0', [], [200, 20]],
    ]
    const always = [
      'actionlog',
      'changelog',
      'chunks',
      'collections',
      'databases',
      'mongos',
      'settings',
      'shards',
      'tags',
      'version',
    ]
    for (const [version, names, megabytes] of expected) {
      const config = await new ConfigUnderTest(version).initialised()
      const collections = await config.collections()
      t.same(
        collections.map(({ name }) => name),
        [...always, ...names].sort(),
        version,
      )
      const size = (name: string) =>
        (collections.find((each) => each.name === name)!.options['size'] as number) / 1024 / 1024
      t.same([size('changelog'), size('actionlog')], megabytes, version)
    }
  },
)

t.test('a tracked unsharded collection can be sharded', async (t) => {
  const config = await new ConfigUnderTest('8.0').initialised()
  await config.createDatabase('db', 'shard02')
  const database = await config.databaseOf('db')
  const { databaseUuid } = database
  const track = { ns: 'db.c', uuid, defaultCollation: null, shard: 'shard02', to: 'shard01', databaseUuid }
  t.match(decode((await config.send('config.track-collection', { ...track, to: 'shard09' })).error!), { code: 70 })
  t.same(await config.all('collections'), [])
  t.equal((await config.send('config.track-collection', track)).error, null)
  t.equal((await config.send('config.track-collection', track)).error, null, 'again')
  t.match(await config.all('collections'), [{ _id: 'db.c', key: { _id: 1 }, unique: false, unsplittable: true }])
  t.match(await config.all('chunks'), [{ shard: 'shard02' }])
  const chunks = packChunks([[encode({ a: 0 }), encode({ a: 1 }), 'shard02']])
  const sharding = {
    ns: 'db.c',
    uuid,
    key: encode({ a: 1 }),
    unique: false,
    defaultCollation: null,
    chunks,
    wasTracked: true,
    ...database,
  }
  const other = await config.send('config.commit-create-collection', { ...sharding, uuid: Buffer.alloc(16, 9) })
  t.match(decode(other.error!), { code: 26 }, 'it was dropped and recreated')
  t.match(await config.all('collections'), [{ unsplittable: true }])
  t.equal(await config.createCollection('db.c', [0]), null)
  const [entry] = await config.all('collections')
  t.same(entry!['key'], { a: 1 })
  t.notOk('unsplittable' in entry!)
  t.same(
    (await config.all('chunks')).map(({ shard }) => shard),
    ['shard01', 'shard02'],
  )
})
