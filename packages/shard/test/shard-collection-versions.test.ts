import { Long, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { Shards } from './support/shards.js'

async function shardIt(
  version: EmulatedVersion,
  body: Document,
  prepare: (shards: Shards) => Promise<unknown> = async () => {},
) {
  const shards = new Shards({ version })
  await prepare(shards)
  const { error } = await shards.shardCollection('db.c', body)
  return { shards, error }
}

const index = (shards: Shards, key: Document, options: Document = {}) =>
  shards.direct('shard01', { createIndexes: 'c', indexes: [{ key, name: 'i', ...options }] })
const insert = (shards: Shards, ...documents: Document[]) => shards.direct('shard01', { insert: 'c', documents })

t.test('2.6 shards on _id when no key is given', async (t) => {
  const old = await shardIt('2.6', {})
  t.equal(old.error, null)
  t.same(old.shards.chunksOf('db.c'), ['MinKey shard01'])
  for (const version of ['4.0', '8.0'] as const)
    t.match(
      (await shardIt(version, {})).error,
      { code: 40414, errmsg: "BSON field 'shardCollection.key' is missing but a required field" },
      version,
    )
})

t.test('the index on the key has the version of new indexes', async (t) => {
  for (const [version, v] of [
    ['2.6', 1],
    ['4.0', 2],
    ['8.0', 2],
  ] as const) {
    const { shards } = await shardIt(version, { key: { a: 1 } })
    const { cursor } = await shards.direct('shard01', { listIndexes: 'c' })
    t.match((cursor as Document)['firstBatch'], [{ v }, { v, key: { a: 1 }, name: 'a_1' }], version)
  }
})

t.test('errors of 2.6 have no code', async (t) => {
  const { error } = await shardIt('2.6', { key: { a: -1 } })
  t.same(error, {
    ok: 0,
    errmsg:
      'Unsupported shard key pattern.  Pattern must either be a single hashed field, or a list of ascending fields.',
  })
  for (const [body, errmsg] of [
    [{ key: { a: 1.5 } }, /^Unsupported shard key pattern/],
    [{ key: {} }, 'no shard key'],
    [{ key: { a: 'hashed', b: 1 } }, 'hashed shard keys currently only support single field keys'],
    [{ key: { a: 'hashed' }, unique: true }, 'hashed shard keys cannot be declared unique.'],
  ] as const)
    t.match((await shardIt('2.6', body)).error, { errmsg })
  t.equal((await shardIt('4.0', { key: { a: 1.5 } })).error, null, 'later versions use the integer part')
  const full = await shardIt('2.6', { key: { a: 1 } }, (shards) => insert(shards, { _id: 1, a: 1 }))
  t.match(full.error, {
    errmsg: 'please create an index that starts with the shard key before sharding.',
    proposedKey: { a: 1 },
    curIndexes: [{ name: '_id_' }],
  })
  t.notOk('code' in full.error!)
  t.match((await shardIt('4.0', { key: { a: -1 } })).error, { code: 2, codeName: 'BadValue' })
})

t.test('paths with parts that begin with $ are refused as the version does', async (t) => {
  for (const key of [{ $a: 1 }, { 'a.$x': 1 }]) {
    t.match((await shardIt('4.4', { key })).error, { code: 2, errmsg: /contains parts that start with '\$'$/ })
    t.match((await shardIt('4.0', { key })).error, { code: 67 }, 'the index is refused')
  }
  for (const version of ['4.0', '8.0'] as const)
    t.equal((await shardIt(version, { key: { 'a.$id': 1 } })).error, null, version)
})

t.test('D810 chunks of a hashed key are created on their shards, even in 2.6', async (t) => {
  const { shards } = await shardIt('2.6', { key: { a: 'hashed' } })
  t.same(
    shards.config.collections.get('db.c')!.chunks.map(({ shard, major, minor }) => [shard, major, minor]),
    ['shard01', 'shard01', 'shard02', 'shard02', 'shard03', 'shard03'].map((shard, minor) => [shard, 1, minor]),
  )
  t.same(
    shards.config.changes.map(([what]) => what),
    ['shardCollection.start', 'shardCollection.end'],
  )
})

t.test('repeating shardCollection is answered as the version does', async (t) => {
  const again = async (version: EmulatedVersion, body: Document) => {
    const { shards } = await shardIt(version, { key: { a: 1 } })
    return (await shards.shardCollection('db.c', body)).error
  }
  for (const version of ['4.0', '5.0', '8.0'] as const) {
    t.equal(await again(version, { key: { a: 1 } }), null, version)
    t.match(await again(version, { key: { b: 1 } }), { code: 23 }, version)
  }
  t.match(await again('2.6', { key: { a: 1 } }), { errmsg: 'already sharded' })
  t.match(await again('4.4', { key: { b: 1 } }), {
    errmsg: /^sharding already enabled for collection db\.c with options \{ _id: "db\.c", lastmodEpoch: ObjectId\(/,
  })
  t.match(await again('7.0', { key: { a: 1 }, unique: true }), {
    errmsg: 'sharding already enabled for collection db.c',
  })
  t.match(await again('8.0', { key: { b: 1 } }), {
    errmsg: 'collection already tracked with different options for collection db.c',
  })
})

t.test('system collections, views and collections with a collation are refused', async (t) => {
  const system = async (version: EmulatedVersion) =>
    (await new Shards({ version }).shardCollection('db.system.js', { key: { a: 1 } })).error
  t.match(await system('4.0'), { code: 20, errmsg: "can't shard system namespaces" })
  t.match(await system('8.0'), { code: 20, errmsg: "Special collection 'db.system.js' cannot be sharded" })
  const created = (version: EmulatedVersion, options: Document) =>
    shardIt(version, { key: { a: 1 } }, (shards) => shards.direct('shard01', { create: 'c', ...options }))
  t.match((await created('4.4', { viewOn: 'x', pipeline: [] })).error, {
    code: 166,
    errmsg: 'Views cannot be sharded.',
  })
  t.match((await created('5.0', { viewOn: 'x', pipeline: [] })).error, {
    code: 166,
    errmsg: 'Namespace db.c is a view, not a collection',
  })
  t.match((await created('4.4', { collation: { locale: 'de' } })).error, {
    code: 2,
    errmsg:
      /^Collection has default collation: collation: \{ locale: "de", .* \}\. Must specify collation \{locale: 'simple'\}$/,
  })
})

t.test('numInitialChunks is checked as the version does', async (t) => {
  const outcome = async (version: EmulatedVersion, body: Document, prepare?: (shards: Shards) => Promise<unknown>) =>
    (await shardIt(version, body, prepare)).error
  const hashed = { key: { a: 'hashed' } }
  const tooMany = { ...hashed, numInitialChunks: 8192 * 3 + 1 }
  const limits = 'numInitialChunks cannot be more than either: 24576, 8192 * number of shards; or 1000000'
  for (const version of ['4.0', '7.0'] as const)
    t.match(await outcome(version, tooMany), { code: 72, errmsg: limits }, version)
  t.equal(await outcome('8.0', tooMany), null, 'ignored since 7.2')
  const ranged = { key: { a: 1 }, numInitialChunks: 4 }
  t.equal(await outcome('2.6', ranged), null)
  t.match(await outcome('4.0', ranged), {
    code: 72,
    errmsg: 'numInitialChunks is not supported when the collection is not hashed',
  })
  t.match(await outcome('7.0', ranged), {
    code: 72,
    errmsg: /^numInitialChunks is only supported when the collection is empty and has a hashed field/,
  })
  t.equal(await outcome('8.0', ranged), null)
  const withDocument = async (shards: Shards) => {
    await insert(shards, { _id: 1, a: 1 })
    await index(shards, { a: 'hashed' })
  }
  t.match(await outcome('4.0', { ...hashed, numInitialChunks: 4 }, withDocument), {
    errmsg: 'numInitialChunks is not supported when the collection is not empty',
  })
  t.match(await outcome('4.4', { key: { b: 1, a: 'hashed' }, numInitialChunks: 4 }), {
    code: 72,
    errmsg:
      "When the prefix of the hashed shard key is a range field, 'numInitialChunks' can only be used when the 'presplitHashedZones' is true",
  })
})

t.test('indexes that do not support the key are refused, with reasons in later versions', async (t) => {
  const outcome = async (
    version: EmulatedVersion,
    prepare: (shards: Shards) => Promise<unknown>,
    body: Document = {},
  ) => (await shardIt(version, { key: { a: 1 }, ...body }, prepare)).error
  const multikey = async (shards: Shards) => {
    await index(shards, { a: 1 })
    await insert(shards, { _id: 1, a: [1, 2] })
  }
  t.match(await outcome('4.4', multikey), { code: 96, errmsg: "couldn't find valid index for shard key" })
  t.match(await outcome('5.0', multikey), { code: 72, errmsg: "couldn't find valid index for shard key" })
  const why =
    "couldn't find valid index for shard key\nIndex _id_ cannot be used for sharding because: Shard key is not a prefix of index key.\nIndex i cannot be used for sharding because: "
  t.equal((await outcome('7.0', multikey))!['errmsg'], `${why}Index key is multikey.`)
  const partial = (shards: Shards) => index(shards, { a: 1 }, { partialFilterExpression: { a: { $gt: 0 } } })
  t.match(
    await outcome('7.0', partial),
    { code: 72, errmsg: `${why}Index key is partial.` },
    'even when the collection is empty',
  )
  const sparse = async (shards: Shards) => {
    await index(shards, { a: 1 }, { sparse: true })
    await insert(shards, { _id: 1, a: 1 })
  }
  const please = 'Please create an index that starts with the proposed shard key before sharding the collection'
  t.match(await outcome('5.0', sparse), { code: 72, errmsg: please })
  t.match(await outcome('7.0', sparse), {
    code: 72,
    errmsg: `${please}.  Index i cannot be used for sharding because [ Index key is sparse. ]`,
  })
  t.match(await outcome('7.0', (shards) => insert(shards, { _id: 1 })), { errmsg: `${please}. ` })
  const plain = (shards: Shards) => index(shards, { a: 1 })
  t.match(await outcome('7.0', plain, { unique: true }), {
    code: 72,
    errmsg: "can't shard collection db.c, { a: 1 } index not unique, and unique index explicitly specified",
  })
  const uniqueElsewhere = (shards: Shards) => index(shards, { b: 1 }, { unique: true })
  t.match(await outcome('7.0', uniqueElsewhere), {
    code: 72,
    errmsg:
      "can't shard collection 'db.c' with unique index on { b: 1 } and proposed shard key { a: 1 }. Uniqueness can't be maintained unless shard key is a prefix",
  })
  t.match(await outcome('7.0', async () => {}, { implicitlyCreateIndex: false }), { code: 6373200 })
  t.equal(await outcome('7.0', plain, { unique: true, enforceUniquenessCheck: false }), null, 'without a check')
})

t.test('a unique key needs a unique index on exactly the key', async (t) => {
  const longer = (shards: Shards) => index(shards, { a: 1, b: 1 }, { unique: true })
  const { shards, error } = await shardIt('7.0', { key: { a: 1 }, unique: true }, longer)
  t.equal(error, null)
  const list = await shards.direct('shard01', { listIndexes: 'c' })
  t.match(
    (list['cursor'] as Document)['firstBatch'],
    [{ name: '_id_' }, { name: 'i' }, { name: 'a_1', unique: true }],
    'built while the collection is empty',
  )
  const full = async (from: Shards) => {
    await longer(from)
    await insert(from, { _id: 1, a: 1 })
  }
  t.match((await shardIt('7.0', { key: { a: 1 }, unique: true }, full)).error, {
    code: 72,
    errmsg: /^Please create an index/,
  })
})

t.test('before 4.4 documents without a field of the key are refused', async (t) => {
  const prepare = async (shards: Shards) => {
    await index(shards, { a: 1, 'b.c': 1 })
    await insert(shards, { _id: 1, a: 1, b: { c: null } }, { _id: 2, a: 3 })
  }
  const body = { key: { a: 1, 'b.c': 1 } }
  t.match((await shardIt('4.0', body, prepare)).error, {
    code: 96,
    errmsg: 'found missing value in key { : 3, : null } for doc: { _id: 2, a: 3 }',
  })
  t.equal((await shardIt('4.4', body, prepare)).error, null)
})

t.test('until 6.0.2 existing documents are split by size', async (t) => {
  const prepare = async (shards: Shards) => {
    shards.config.settings.set('chunksize', { _id: 'chunksize', value: 1 })
    await index(shards, { a: 1 })
    const filler = 'x'.repeat(50_000)
    await insert(shards, ...Array.from({ length: 60 }, (_, i) => ({ _id: i, a: i, filler })))
  }
  for (const version of ['2.6', '4.4', '6.0.2'] as const) {
    const { shards, error } = await shardIt(version, { key: { a: 1 } }, prepare)
    t.equal(error, null)
    const chunks = shards.chunksOf('db.c')
    t.equal(chunks.length, 6, `${version}: half a chunk size each`)
    t.same([...new Set(chunks.map((line) => line.split(' ')[1]))], ['shard01'])
  }
  t.same((await shardIt('6.0', { key: { a: 1 } }, prepare)).shards.chunksOf('db.c'), ['MinKey shard01'])
})

t.test('the entries of the changelog have the form of the version', async (t) => {
  const log = async (version: EmulatedVersion) => (await shardIt(version, { key: { a: 1 } })).shards.config.changes
  const fieldsOf = (changes: [string, string, Document][]) =>
    changes.map(([what, , details]) => [what, Object.keys(details)])
  const [start, end] = ['shardCollection.start', 'shardCollection.end']
  t.same(fieldsOf(await log('2.6')), [
    [start, ['shardKey', 'collection', 'primary', 'numChunks']],
    [end, ['version']],
  ])
  t.same(fieldsOf(await log('4.0')), [
    [start, ['shardKey', 'collection', 'uuid', 'empty', 'fromMapReduce', 'primary', 'numChunks']],
    [end, ['version']],
  ])
  t.same(fieldsOf(await log('4.4')), [
    [start, ['shardKey', 'collection', 'uuid', 'empty', 'primary']],
    [end, ['version']],
  ])
  t.same(fieldsOf(await log('6.0')), [
    [start, ['shardKey', 'collection', 'primary']],
    [end, ['uuid', 'version', 'empty', 'numChunks']],
  ])
  const now = await log('8.0')
  t.match(now[1]![2], {
    placementVersion: /^1\|0\|\|[0-9]{24}\|\|Timestamp\(\d+, 1\)$/,
    empty: true,
    numChunks: Long.fromNumber(1),
  })
  t.match((await log('4.4'))[1]![2], { version: /^1\|0\|\|[0-9]{24}$/ })
})
