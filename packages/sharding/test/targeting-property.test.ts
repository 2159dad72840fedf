/**
 * A shard that is not targeted has no match, whatever the key, the chunks, the filter, its
 * collation and the version. `SHARDLAB_LONG=1`: ten times as many cases.
 */
import { decode, encode, keyStringOfDocument, MaxKey, MinKey, type Document } from '@shardlab/bson'
import fc from 'fast-check'
import t from 'tap'
import {
  behavioursOf,
  emulatedVersions,
  OwnershipFilter,
  targetFilter,
  type CollectionPlacement,
} from '../src/index.js'
import { check } from '@shardlab/bson/testing'
import { filterOf, long, patternOf, placementOf } from './support/placements.js'

const scalar = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -3, max: 6 }) },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(1.5, 2.5, Number.NaN, Infinity, -Infinity) },
  { weight: 3, arbitrary: fc.constantFrom<unknown>('', 'a', 'A', 'ab', 'aB', 'b', 'ba') },
  fc.constantFrom<unknown>(true, false, new Date(0), new Date(5), new MinKey(), new MaxKey()),
  { weight: 2, arbitrary: fc.constant(null) },
)
const value = fc.oneof({ weight: 8, arbitrary: scalar }, fc.record({ b: scalar }), fc.record({ b: scalar, c: scalar }))

const paths = ['a', 'b', 'n.b', 'n.c'] as const
const keys: readonly Document[] = [
  { a: 1 },
  { a: 1, b: 1 },
  { b: 1, a: 1 },
  { 'n.b': 1 },
  { a: 1, 'n.b': 1, b: 1 },
  { a: 'hashed' },
  { a: 1, b: 'hashed' },
  { a: 'hashed', b: 1 },
  { 'n.c': 'hashed' },
]

const document: fc.Arbitrary<Document> = fc.record(
  { a: value, b: value, n: fc.oneof(scalar, fc.record({ b: value, c: scalar }, { requiredKeys: [] })), other: scalar },
  { requiredKeys: [] },
)

const operator = fc.oneof(
  value.map((operand) => ({ $eq: operand })),
  value,
  fc.constantFrom('$gt', '$gte', '$lt', '$lte', '$ne').chain((name) => value.map((operand) => ({ [name]: operand }))),
  fc.array(value, { maxLength: 4 }).map((values) => ({ $in: values })),
  fc.array(value, { maxLength: 3 }).map((values) => ({ $nin: values })),
  fc.boolean().map((exists) => ({ $exists: exists })),
  fc.constantFrom<unknown>(/^a/, /^ab?/, /b/, /^a/i),
  fc.tuple(value, value).map(([low, high]) => ({ $gte: low, $lt: high })),
  value.map((operand) => ({ $not: { $gte: operand } })),
  fc.constantFrom('number', 'string', 'null', 'object').map((type) => ({ $type: type })),
)
const predicate: fc.Arbitrary<Document> = fc
  .tuple(fc.constantFrom(...paths, 'n', 'other'), operator)
  .map(([path, test]) => ({ [path]: test }))
const literal = value.map((operand) => ({ $literal: operand }))
const comparison: fc.Arbitrary<Document> = fc
  .tuple(
    fc.constantFrom('$eq', '$gt', '$gte', '$lt', '$lte', '$ne'),
    fc.constantFrom('$a', '$b', '$n.b', '$$ROOT.a', '$other'),
    literal,
    fc.boolean(),
  )
  .map(([name, path, operand, turned]) => ({ [name]: turned ? [operand, path] : [path, operand] }))
const { expression } = fc.letrec<{ expression: Document }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    { weight: 4, arbitrary: comparison },
    fc.array(tie('expression'), { minLength: 1, maxLength: 3 }).map((parts) => ({ $and: parts })),
    fc.array(tie('expression'), { minLength: 1, maxLength: 3 }).map((parts) => ({ $or: parts })),
    tie('expression').map((part) => ({ $not: [part] })),
  ),
}))
const { filter } = fc.letrec<{ filter: Document }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 4, arbitrary: predicate },
    {
      weight: 2,
      arbitrary: fc.array(predicate, { maxLength: 3 }).map((parts) => Object.assign({}, ...parts) as Document),
    },
    fc.array(tie('filter'), { minLength: 1, maxLength: 3 }).map((parts) => ({ $and: parts })),
    fc.array(tie('filter'), { minLength: 1, maxLength: 3 }).map((parts) => ({ $or: parts })),
    fc.array(tie('filter'), { minLength: 1, maxLength: 2 }).map((parts) => ({ $nor: parts })),
    expression.map((expr) => ({ $expr: expr })),
  ),
}))

const caseInsensitive = (a: string, b: string) => {
  const [left, right] = [a.toLowerCase(), b.toLowerCase()]
  return left < right ? -1 : left > right ? 1 : 0
}

const setting = fc
  .record({ version: fc.constantFrom(...emulatedVersions), collated: fc.boolean() })
  .map(({ version, collated }) => {
    const { undefinedMatchesNull, exprComparisonsGiveBounds, emptyInIsFalse } = behavioursOf(version)
    const strings = collated ? { strings: caseInsensitive } : {}
    return {
      version,
      evaluation: { undefinedMatchesNull, exprComparisonsGiveBounds, emptyInIsFalse, ...strings },
      strings,
    }
  })

const runs = process.env['SHARDLAB_LONG'] === '1' ? 10_000 : 1_000

/** Split points come from documents or are arbitrary values. */
const placement: fc.Arbitrary<CollectionPlacement> = fc
  .record({
    key: fc.constantFrom(...keys),
    values: fc.array(fc.array(value, { minLength: 3, maxLength: 3 }), { maxLength: 8 }),
    hashes: fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { minLength: 8, maxLength: 8 }),
    owners: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 9, maxLength: 9 }),
  })
  .map(({ key, values, hashes, owners }) => {
    const pattern = patternOf(key)
    const cuts = new Map<string, Document>()
    values.forEach((row, i) => {
      const cut = Object.fromEntries(
        pattern.fields.map((field, f) => [field.path, field.hashed ? long(hashes[i]!) : row[f]]),
      )
      const place = keyStringOfDocument(encode(cut))
      if (place > pattern.globalMinKeyString && place < pattern.globalMaxKeyString) cuts.set(place, cut)
    })
    const ascending = [...cuts.keys()].sort().map((place) => cuts.get(place)!)
    return placementOf(
      key,
      ascending,
      owners.map((owner) => `s${owner}`),
    )
  })

function describe(placement: CollectionPlacement): string {
  return JSON.stringify({
    key: decode(placement.shardKey.document),
    owners: [...placement.table.chunks()].map((chunk) => [
      Buffer.from(chunk.min, 'latin1').toString('hex'),
      chunk.shard,
    ]),
  })
}

t.test('every shard that has a match is targeted', async () => {
  check(
    fc.property(
      placement,
      filter,
      setting,
      fc.array(document, { minLength: 1, maxLength: 12 }),
      (where, query, { evaluation, strings }, documents) => {
        const compiled = filterOf(query, evaluation)
        const { shards, kind, exactKey } = targetFilter(where, compiled, strings)
        if (shards.length === 0) throw new Error('no shard is targeted')
        if (shards.some((shard) => where.table.chunksOn(shard) === 0))
          throw new Error('a shard without chunks is asked')
        if (kind === 'broadcast' && shards.length !== where.table.owners().length)
          throw new Error('a broadcast that leaves shards out')
        for (const found of documents) {
          const bytes = encode(found)
          const key = where.shardKey.extract(bytes)
          if (typeof key === 'string' || !compiled.matches(bytes)) continue
          const owner = where.table.shardOf(key.keyString)
          if (!shards.includes(owner))
            throw new Error(`${owner} holds ${JSON.stringify(found)}, asked are ${shards.join()}: ${describe(where)}`)
          if (exactKey !== null && exactKey !== key.keyString)
            throw new Error(`the exact key is not that of the match ${JSON.stringify(found)}`)
          if (!new OwnershipFilter(where, owner).owns(bytes)) throw new Error('the owner does not own it')
        }
      },
    ),
    4 * runs,
  )
})

t.test('a filter made from a document targets its shard', async () => {
  check(
    fc.property(placement, document, (where, found) => {
      const bytes = encode(found)
      const key = where.shardKey.extract(bytes)
      if (typeof key === 'string') return
      const owner = where.table.shardOf(key.keyString)
      const equalities = Object.fromEntries(
        where.shardKey.paths.map((path) => [
          path,
          path.split('.').reduce<unknown>((at, part) => (at as Document | null | undefined)?.[part] ?? null, found),
        ]),
      )
      const targeting = targetFilter(where, filterOf(equalities))
      if (targeting.exactKey !== key.keyString) throw new Error(`exact key of ${JSON.stringify(equalities)}`)
      if (targeting.shards.join() !== owner) throw new Error(`asked ${targeting.shards.join()}, owner ${owner}`)
    }),
    runs,
  )
})
