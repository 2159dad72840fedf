/** Manual: core/zone-sharding, reference/command/shardCollection. */
import { Long, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { maxKey, minKey } from './support/scripted-config.js'
import { Shards } from './support/shards.js'

interface Zone {
  min: Document
  max: Document
  tag: string
}

const long = (value: number) => Long.fromNumber(value)

async function shardZoned(
  version: EmulatedVersion,
  zones: Zone[],
  carriers: Record<string, string[]>,
  body: Document,
  documents: Document[] = [],
) {
  const shards = new Shards({ version })
  shards.config.tags.set('db.c', zones)
  for (const [shard, tags] of Object.entries(carriers)) shards.config.shardFields.set(shard, { tags })
  if (documents.length > 0) {
    await shards.direct('shard01', { insert: 'c', documents })
    await shards.direct('shard01', { createIndexes: 'c', indexes: [{ key: body['key'], name: 'i' }] })
  }
  const { error } = await shards.shardCollection('db.c', body)
  return { error, chunks: shards.chunksOf('db.c') }
}

const ranges: Zone[] = [
  { min: { a: 0 }, max: { a: 10 }, tag: 'x' },
  { min: { a: 10 }, max: { a: 20 }, tag: 'y' },
  { min: { a: 30 }, max: { a: 40 }, tag: 'x' },
]
const carriers = { shard02: ['x'], shard03: ['x', 'y'] }

t.test('each zone range is a chunk, round-robin on the shards of its zone, and gaps go to all shards', async (t) => {
  const { error, chunks } = await shardZoned('6.0', ranges, carriers, { key: { a: 1 } })
  t.equal(error, null)
  t.same(chunks, ['MinKey shard01', '0 shard02', '10 shard03', '20 shard02', '30 shard03', '40 shard03'])
  for (const version of ['4.0', '8.0'] as const)
    t.equal((await shardZoned(version, ranges, carriers, { key: { a: 1 } })).chunks.length, 6, version)
  t.same((await shardZoned('2.6', ranges, carriers, { key: { a: 1 } })).chunks, ['MinKey shard01'], 'not yet in 2.6')
  t.same(
    (await shardZoned('7.0', ranges, carriers, { key: { a: 1 } }, [{ _id: 1, a: 5 }])).chunks,
    ['MinKey shard01'],
    'not with documents either',
  )
  t.same(
    (await shardZoned('6.0', [{ min: { a: minKey }, max: { a: maxKey }, tag: 'y' }], carriers, { key: { a: 1 } }))
      .chunks,
    ['MinKey shard03'],
    'no gaps',
  )
})

t.test('with zones a hashed key gets one chunk per range and not per shard', async (t) => {
  const { chunks } = await shardZoned('6.0', [{ min: { a: long(-5) }, max: { a: long(5) }, tag: 'y' }], carriers, {
    key: { a: 'hashed' },
  })
  t.same(chunks, ['MinKey shard01', '-5 shard03', '5 shard02'])
})

t.test('since 7.0 draining shards get no gaps', async (t) => {
  const shards = new Shards({ version: '7.0' })
  shards.config.tags.set('db.c', [{ min: { a: 0 }, max: { a: 1 }, tag: 'x' }])
  shards.config.shardFields.set('shard02', { tags: ['x'] })
  shards.config.shardFields.set('shard01', { draining: true })
  shards.config.shardFields.set('shard03', { draining: true })
  t.equal((await shards.shardCollection('db.c', { key: { a: 1 } })).error, null)
  t.same(shards.chunksOf('db.c'), ['MinKey shard02', '0 shard02', '1 shard02'])
})

t.test('zones with other fields than the key are refused', async (t) => {
  const outcome = async (zone: Omit<Zone, 'tag'>, key: Document, version: EmulatedVersion = '7.0') =>
    (await shardZoned(version, [{ ...zone, tag: 'x' }], carriers, { key })).error
  const ofA = { min: { a: 0 }, max: { a: 10 } }
  t.match(await outcome(ofA, { b: 1 }), {
    code: 72,
    errmsg:
      'the proposed shard key { b: 1 } does not match with the shard key of the existing zone { a: 0 } -->> { a: 10 }',
  })
  t.match(await outcome(ofA, { a: 1, b: 1 }), { code: 72, errmsg: /does not match/ })
  t.match(await outcome({ min: { a: 0, b: 0 }, max: { a: 10, b: 0 } }, { a: 1 }), {
    code: 72,
    errmsg: /does not match/,
  })
  t.match(await outcome({ min: { a: 0 }, max: { b: 10 } }, { a: 1 }), { code: 72, errmsg: /have non-matching keys$/ })
  t.match(await outcome(ofA, { a: 'hashed' }), {
    code: 72,
    errmsg: /whose boundaries are not of type NumberLong, MinKey or MaxKey$/,
  })
  const open = { min: { a: minKey }, max: { a: long(0) } }
  t.equal(await outcome(open, { a: 'hashed' }, '4.4'), null)
  t.match(await outcome(open, { a: 'hashed' }, '4.0'), {
    code: 72,
    errmsg: /whose boundaries are not of type NumberLong$/,
  })
  t.equal(await outcome(ofA, { b: 1 }, '2.6'), null)
})

t.test('a zone without shards is refused for an empty collection', async (t) => {
  const outcome = async (version: EmulatedVersion, documents: Document[] = []) =>
    (await shardZoned(version, ranges, { shard02: ['x'] }, { key: { a: 1 } }, documents)).error
  t.match(await outcome('6.0'), {
    code: 50973,
    errmsg:
      'Cannot shard collection db.c due to zone y which is not assigned to a shard. Please assign this zone to a shard.',
  })
  t.match(await outcome('7.0'), { code: 405, codeName: 'CannotCreateChunkDistribution' })
  t.equal(await outcome('7.0', [{ _id: 1, a: 1 }]), null, 'ignored when there are documents')
})

const country = (
  from: unknown,
  to: unknown,
  tag: string,
  lowHash: unknown = minKey,
  highHash: unknown = minKey,
): Zone => ({
  min: { country: from, h: lowHash },
  max: { country: to, h: highHash },
  tag,
})
const key = { country: 1, h: 'hashed' }

t.test('presplitHashedZones cuts the hash space under each prefix', async (t) => {
  const zones = [country('A', 'M', 'x'), country('M', 'T', 'y')]
  const body = { key, presplitHashedZones: true }
  // Two chunks per shard; shard03 carries both zones, and has one in each.
  const { error, chunks } = await shardZoned('6.0', zones, carriers, body)
  t.equal(error, null)
  t.same(chunks, [
    'MinKey,MinKey shard01',
    'A,MinKey shard02',
    'A,-3074457345618258602 shard02',
    'A,3074457345618258602 shard03',
    'M,MinKey shard03',
    'T,MinKey shard02',
  ])
  t.same(
    (await shardZoned('8.0', zones, carriers, body)).chunks.filter((line) => /^[AM],/.test(line)),
    ['A,MinKey shard02', 'A,0 shard03', 'M,MinKey shard03'],
    'one per shard',
  )
  t.equal(
    (await shardZoned('6.0', zones, carriers, { ...body, numInitialChunks: 8 })).chunks.filter((line) =>
      /^[AM],/.test(line),
    ).length,
    4 + 2 + 2,
  )
  t.equal(
    (await shardZoned('4.0', [], {}, { key: { h: 'hashed' }, presplitHashedZones: true })).error,
    null,
    'unknown to 4.0, and ignored',
  )
})

t.test('presplitHashedZones cuts the whole key space of a key with a hashed first field', async (t) => {
  const whole = { min: { h: minKey }, max: { h: maxKey }, tag: 'x' }
  const body = { key: { h: 'hashed' }, presplitHashedZones: true }
  t.same((await shardZoned('6.0', [whole], carriers, body)).chunks, [
    'MinKey shard02',
    '-4611686018427387902 shard02',
    '0 shard03',
    '4611686018427387902 shard03',
  ])
  t.match((await shardZoned('6.0', [{ ...whole, max: { h: long(0) } }], carriers, body)).error, { code: 31412 })
})

t.test('presplitHashedZones refuses zones that cannot be presplit', async (t) => {
  const outcome = async (zones: Zone[], body: Document = {}, documents: Document[] = []) =>
    (await shardZoned('7.0', zones, carriers, { key, presplitHashedZones: true, ...body }, documents)).error?.['code']
  t.equal(await outcome([]), 31387)
  t.equal(await outcome([{ min: { a: 0 }, max: { a: 1 }, tag: 'x' }], { key: { a: 1 } }), 31387)
  t.equal(await outcome([country('A', 'M', 'x')], {}, [{ _id: 1, country: 'A', h: 1 }]), 31387)
  t.equal(await outcome([country(minKey, 'M', 'x')]), 31388)
  t.equal(await outcome([country('A', 'M', 'x', long(0))]), 31389)
  t.equal(await outcome([country('A', 'A', 'x', minKey, maxKey)]), 31390)
  const three = { min: { country: 'A', h: minKey, s: 1 }, max: { country: 'M', h: minKey, s: minKey }, tag: 'x' }
  t.equal(await outcome([three], { key: { ...key, s: 1 } }), 31391)
  t.equal(await outcome([country('A', 'M', 'nowhere')]), 405)
})
