import { BsonType, hashedKeyValue, RawValue, toRawValue, type Document } from '@shardlab/bson'
import type { EvaluationContext } from '@shardlab/query'
import t from 'tap'
import { behavioursOf, targetFilter, type CollectionPlacement, type EmulatedVersion } from '../src/index.js'
import { filterOf, long, placementOf } from './support/placements.js'
import { collated, xyz } from './support/targeting.js'

function rulesOf(version: EmulatedVersion): Partial<EvaluationContext> {
  const { undefinedMatchesNull, exprComparisonsGiveBounds, emptyInIsFalse } = behavioursOf(version)
  return { undefinedMatchesNull, exprComparisonsGiveBounds, emptyInIsFalse }
}

function shardsUnder(
  version: EmulatedVersion,
  placement: CollectionPlacement,
  filter: Document,
  over: Partial<EvaluationContext> = {},
): string {
  return targetFilter(
    placement,
    filterOf(filter, { ...rulesOf(version), ...over }),
    over.strings === undefined ? {} : collated,
  )
    .shards.map((shard) => shard.slice(1))
    .join(',')
}

t.test('$in without values is a contradiction until 7.0 and a broadcast since 8.0', async (t) => {
  const cases: [Document, string, string][] = [
    [{ a: { $in: [] } }, '0', '0,1,2,3'],
    [{ a: { $in: [] }, b: 1 }, '0', '0,1,2,3'],
    [{ a: 'y', b: { $in: [] } }, '2', '0,1,2,3'],
    [{ $or: [{ a: { $in: [] } }, { a: 'y' }] }, '2', '2'],
    [{ $or: [{ a: { $in: [] } }, { a: { $in: [] } }] }, '0', '0,1,2,3'],
    [{ a: { $gt: 'x', $lt: 'x' } }, '0', '0'],
    [{ a: { $gt: 'x' }, $alwaysFalse: 1 }, '0,1,2,3', '0,1,2,3'],
  ]
  for (const [filter, before, since] of cases) {
    for (const version of ['2.6', '7.0'] as const)
      t.equal(shardsUnder(version, xyz, filter), before, `${version} ${JSON.stringify(filter)}`)
    t.equal(shardsUnder('8.0', xyz, filter), since, `8.0 ${JSON.stringify(filter)}`)
  }
})

t.test('before 8.0, null among other values also targets undefined', async (t) => {
  const hash = (value: unknown) => hashedKeyValue(toRawValue(value)).asBigInt()
  const undefinedHash = hashedKeyValue(new RawValue(BsonType.undefined, new Uint8Array(0), 0, 0)).asBigInt()
  const ascending = [hash(null), hash(5), undefinedHash].sort((a, b) => (a < b ? -1 : 1))
  const hashed = placementOf(
    { a: 'hashed' },
    ascending.map((value) => ({ a: long(value) })),
  )
  const shardOfHash = (value: bigint) => ascending.indexOf(value) + 1
  const both = [hash(null), hash(5)].map(shardOfHash).sort().join()
  t.equal(shardsUnder('8.0', hashed, { a: { $in: [null, 5] } }), both)
  for (const version of ['2.6', '7.0'] as const)
    t.equal(shardsUnder(version, hashed, { a: { $in: [null, 5] } }), '1,2,3', version)
  for (const version of ['2.6', '7.0', '8.0'] as const) {
    t.equal(shardsUnder(version, hashed, { a: null }), String(shardOfHash(hash(null))), `${version}: one key`)
  }
  const atNull = placementOf({ a: 1 }, [{ a: null }, { a: 0 }])
  t.equal(shardsUnder('7.0', atNull, { a: { $in: [null, 5] } }), '0,1,2')
  t.equal(shardsUnder('8.0', atNull, { a: { $in: [null, 5] } }), '1,2')
  t.equal(shardsUnder('7.0', atNull, { a: { $lte: null } }), '0,1')
  t.equal(shardsUnder('8.0', atNull, { a: { $lte: null } }), '1')
})

t.test('$expr: equality gives bounds since 4.0, other comparisons since 5.0', async (t) => {
  const all = '0,1,2,3'
  const cases: [unknown, string, string][] = [
    [{ $eq: ['$a', 'y'] }, '2', '2'],
    [{ $eq: ['y', '$a'] }, '2', '2'],
    [{ $eq: ['$$ROOT.a', 'y'] }, '2', '2'],
    [{ $eq: ['$a', { $concat: ['', 'y'] }] }, '2', '2'],
    [{ $eq: ['$a', '$$wanted'] }, '2', '2'],
    [{ $and: [{ $eq: ['$a', 'y'] }, { $eq: ['$b', 1] }] }, '2', '2'],
    [{ $or: [{ $eq: ['$a', 'u'] }, { $eq: ['$a', 'y'] }] }, '0,2', '0,2'],
    [{ $or: [{ $eq: ['$a', 'u'] }, { $eq: ['$b', 1] }] }, all, all],
    [{ $eq: ['$a', '$b'] }, all, all],
    [{ $eq: ['$a', ['y']] }, all, all],
    [{ $eq: ['$b', 'y'] }, all, all],
    [{ $ne: ['$a', 'y'] }, all, all],
    [{ $gte: ['$a', 'y'] }, all, '2,3'],
    [{ $lt: ['$a', 'y'] }, all, '0,1,2'],
    [{ $gt: ['y', '$a'] }, all, '0,1,2'],
    [{ $and: [{ $gte: ['$a', 'xa'] }, { $lt: ['$a', 'xb'] }] }, all, '1'],
    [{ $gt: ['$a', 5] }, all, all],
    [{ $in: ['$a', ['y']] }, all, all],
  ]
  const variables = new Map([['wanted', toRawValue('y')]])
  for (const [expression, equality, comparisons] of cases) {
    const filter = { $expr: expression }
    t.equal(shardsUnder('2.6', xyz, filter, { variables }), all, `2.6 ${JSON.stringify(filter)}`)
    for (const version of ['4.0', '4.4'] as const)
      t.equal(shardsUnder(version, xyz, filter, { variables }), equality, `${version} ${JSON.stringify(filter)}`)
    for (const version of ['5.0', '8.0'] as const)
      t.equal(shardsUnder(version, xyz, filter, { variables }), comparisons, `${version} ${JSON.stringify(filter)}`)
  }
  t.equal(
    targetFilter(xyz, filterOf({ $expr: { $eq: ['$a', 'y'] } })).exactKey,
    null,
    'not an exact key for writes that need one',
  )
  t.equal(
    shardsUnder('8.0', xyz, { $expr: { $eq: ['$a', 'y'] } }, { strings: collated.strings }),
    all,
    'under a collation',
  )
  t.equal(shardsUnder('8.0', xyz, { $expr: false }), all, 'constant false')
  const hashed = placementOf({ a: 'hashed' }, [{ a: long(0) }])
  const place = hashedKeyValue(toRawValue(7)).asBigInt() < 0n ? '0' : '1'
  t.equal(shardsUnder('8.0', hashed, { $expr: { $eq: ['$a', 7] } }), place)
  t.equal(shardsUnder('8.0', hashed, { $expr: { $gt: ['$a', 7] } }), '0,1')
})
