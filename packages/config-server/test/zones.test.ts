import { packChunks } from '@shardlab/actor'
import { decode, encode, Long, MaxKey, MinKey, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { ConfigUnderTest, shape } from './support/config.js'

const min = new MinKey()
const max = new MaxKey()

async function zoned(version: EmulatedVersion = '7.0'): Promise<ConfigUnderTest> {
  const config = await new ConfigUnderTest(version).initialised(['shard01', 'shard02', 'shard03'])
  await add(config, 'shard01', 'EU')
  await add(config, 'shard02', 'US')
  return config
}

const read = (error: Uint8Array | null) => (error === null ? null : decode(error))

const add = async (config: ConfigUnderTest, shard: string, zone: string) =>
  read((await config.send('config.add-shard-to-zone', { shard, zone })).error)

const remove = async (config: ConfigUnderTest, shard: string, zone: string) =>
  read((await config.send('config.remove-shard-from-zone', { shard, zone })).error)

const assign = async (config: ConfigUnderTest, ns: string, range: [Document, Document], zone: string | null) =>
  read(
    (await config.send('config.update-zone-key-range', { ns, min: encode(range[0]), max: encode(range[1]), zone }))
      .error,
  )

const tags = async (config: ConfigUnderTest) =>
  (await config.all('tags')).map(({ ns, min, max, tag }) => ({ ns, min, max, tag }))

t.test('shards are added to zones and removed from them', async (t) => {
  const config = await zoned()
  t.equal(await add(config, 'shard01', 'EU'), null, 'again is no change')
  t.equal(await add(config, 'shard01', 'US'), null)
  t.match(await config.all('shards'), [
    { _id: 'shard01', tags: ['EU', 'US'] },
    { _id: 'shard02', tags: ['US'] },
    { _id: 'shard03' },
  ])
  t.equal(await remove(config, 'shard01', 'US'), null)
  t.equal(await remove(config, 'shard03', 'EU'), null, 'a zone that it does not carry')
  t.same(
    (await config.all('shards')).map((shard) => shard['tags']),
    [['EU'], ['US'], undefined],
  )
  t.match(await add(config, 'shard09', 'EU'), { code: 70, errmsg: 'shard shard09 does not exist' })
  t.match(await remove(config, 'shard09', 'EU'), { code: 70 })
})

t.test('the last shard of a zone with ranges cannot leave it', async (t) => {
  const config = await zoned()
  await assign(config, 'db.c', [{ a: 0 }, { a: 10 }], 'EU')
  t.match(await remove(config, 'shard01', 'EU'), {
    code: 163,
    codeName: 'ZoneStillInUse',
    errmsg: 'cannot remove a shard from zone if a chunk range is associated with it',
  })
  await add(config, 'shard02', 'EU')
  t.equal(await remove(config, 'shard01', 'EU'), null)
  await assign(config, 'db.c', [{ a: 0 }, { a: 10 }], null)
  t.equal(await remove(config, 'shard02', 'EU'), null)
})

t.test('zone ranges of a sharded collection are checked and stored', async (t) => {
  const config = await zoned()
  await config.createDatabase('db', 'shard01')
  await config.createCollection('db.c')
  t.equal(await assign(config, 'db.c', [{ a: 0 }, { a: 10 }], 'EU'), null)
  t.equal(await assign(config, 'db.c', [{ a: 0 }, { a: 10 }], 'EU'), null, 'again is no change')
  t.equal(
    await assign(config, 'db.c', [{ a: 10 }, { a: max }], 'US'),
    null,
    'the next one may begin where this one ends',
  )
  t.equal((await tags(config)).length, 2)
  const refused: [string, [Document, Document], string, number, RegExp][] = [
    [
      'overlap',
      [{ a: 5 }, { a: 6 }],
      'EU',
      178,
      /^Zone range: { a: 5 } -->> { a: 6 } {2}on {2}EU is overlapping with existing: { a: 0 } -->> { a: 10 } {2}on {2}EU$/,
    ],
    ['the same range in another zone', [{ a: 0 }, { a: 10 }], 'US', 178, /overlapping/],
    ['around another', [{ a: -5 }, { a: 20 }], 'EU', 178, /overlapping/],
    ['no such zone', [{ a: -5 }, { a: 0 }], 'ASIA', 177, /^zone ASIA does not exist$/],
    [
      'another field',
      [{ b: -5 }, { b: 0 }],
      'EU',
      61,
      /^min: { b: -5 } is not a prefix of the shard key { a: 1 } of ns: db\.c$/,
    ],
    ['too many fields', [{ a: -5 }, { a: 0, b: 0 }], 'EU', 61, /^max: /],
    ['an array', [{ a: [1] }, { a: max }], 'EU', 2, /is not valid for storage$/],
    ['an operator', [{ a: min }, { a: { $gt: 1 } }], 'EU', 2, /is not valid for storage$/],
  ]
  const before = await tags(config)
  for (const [name, range, zone, code, errmsg] of refused)
    t.match(await assign(config, 'db.c', range, zone), { code, errmsg }, name)
  t.same(await tags(config), before, 'nothing of that changed anything')
  t.equal(await assign(config, 'db.c', [{ a: 0 }, { a: 11 }], null), null, 'a range that is not there')
  t.same(await tags(config), before)
  t.equal(await assign(config, 'db.c', [{ a: 0 }, { a: 10 }], null), null)
  t.equal((await tags(config)).length, 1)
})

t.test('a prefix of the shard key is extended with MinKey at both ends', async (t) => {
  const config = await zoned()
  await config.createDatabase('db', 'shard01')
  await config.send('config.commit-create-collection', {
    ...creation('db.c', { a: 1, b: 1 }),
    ...(await config.databaseOf('db')),
  })
  t.equal(await assign(config, 'db.c', [{ a: 0 }, { a: max }], 'EU'), null)
  t.same(await tags(config), [{ ns: 'db.c', min: { a: 0, b: min }, max: { a: max, b: min }, tag: 'EU' }])
  t.equal(await assign(config, 'db.c', [{ a: 0 }, { a: max }], null), null, 'and so is the range that is taken out')
  t.same(await tags(config), [])
})

t.test('bounds of hashed fields must be hashes', async (t) => {
  const range: [Document, Document] = [{ a: 0 }, { a: 10 }]
  for (const [version, code] of [
    ['4.0', undefined],
    ['4.4', 72],
    ['8.0', 72],
  ] as const) {
    const config = await zoned(version)
    await config.createDatabase('db', 'shard01')
    await config.send('config.commit-create-collection', {
      ...creation('db.h', { a: 'hashed' }),
      ...(await config.databaseOf('db')),
    })
    t.equal((await assign(config, 'db.h', range, 'EU'))?.['code'], code, version)
    t.equal(await assign(config, 'db.h', [{ a: Long.fromNumber(20) }, { a: max }], 'EU'), null, 'a NumberLong')
  }
})

t.test('ranges can be set on unsharded and missing collections', async (t) => {
  const config = await zoned()
  t.equal(
    await assign(
      config,
      'db.later',
      [
        { a: 0, b: 1 },
        { a: 10, b: 1 },
      ],
      'EU',
    ),
    null,
  )
  t.match(await assign(config, 'db.later', [{ a: 20, b: 1 }, { a: 30 }], 'EU'), {
    code: 61,
    errmsg: /^the shard key of min .* doesn't match with the shard key of max /,
  })
  t.match(
    await assign(
      config,
      'db.later',
      [
        { a: 5, b: 1 },
        { a: 15, b: 1 },
      ],
      'US',
    ),
    { code: 178 },
  )
})

t.test('documents of config.tags have the shape of the version', async (t) => {
  for (const [version, id] of [
    ['4.0', '_id:{ns:string min:{a:int}}'],
    ['4.4', '_id:{ns:string min:{a:int}}'],
    ['5.0', '_id:objectId'],
    ['8.0', '_id:objectId'],
  ] as const) {
    const config = await zoned(version)
    await assign(config, 'db.c', [{ a: 0 }, { a: 10 }], 'EU')
    t.same((await config.raw('tags')).map(shape), [`${id} ns:string min:{a:int} max:{a:int} tag:string`], version)
  }
})

function creation(ns: string, key: Document) {
  const fields = Object.keys(key)
  const bound = (value: unknown) => encode(Object.fromEntries(fields.map((field) => [field, value])))
  return {
    ...collectionDefaults,
    ns,
    key: encode(key),
    chunks: packChunks([[bound(min), bound(max), 'shard01']]),
  }
}

const collectionDefaults = {
  uuid: Buffer.alloc(16, 7),
  wasTracked: false,
  unique: false,
  defaultCollation: null,
}
