import { BsonType, compareValues, encode, findPath, hashedKeyValue, nullValue, type RawValue } from '@shardlab/bson'
import fc from 'fast-check'
import t from 'tap'
import {
  boundsFor,
  boundsForOr,
  compileFilter,
  fieldPath,
  keyTuplesOf,
  parseKeyPattern,
  type KeyBounds,
  type KeyPattern,
} from '../../src/index.js'
import { document, filter, path } from '../support/arbitrary/documents.js'
import { context } from '../support/helpers.js'
import { referenceMatches } from '../support/reference/filter.js'
import { runs } from '../support/runs.js'

const pattern = fc
  .uniqueArray(
    fc.tuple(
      fc.oneof(
        fc.constantFrom('a', 'b', 'c', 'a.b', 'b.a'),
        path.filter((dotted) => !/\d/.test(dotted)),
      ),
      fc.constantFrom<1 | -1>(1, -1),
    ),
    { minLength: 1, maxLength: 3, selector: ([name]) => name },
  )
  .map((fields) => parseKeyPattern(encode(Object.fromEntries(fields))))

function contains(bounds: KeyBounds, key: readonly (RawValue | undefined)[]): boolean {
  return bounds.fields.every(({ intervals }, index) =>
    intervals.some((interval) => {
      const value = key[index] ?? nullValue
      const low = compareValues(interval.low, value)
      const high = compareValues(value, interval.high)
      return (low < 0 || (low === 0 && interval.lowInclusive)) && (high < 0 || (high === 0 && interval.highInclusive))
    }),
  )
}

/** Throwing makes fast-check print the seed and the smallest case. */
function check(holds: boolean, ...details: unknown[]): void {
  if (!holds) throw new Error(details.map((each) => JSON.stringify(each)).join(' on '))
}

t.test('property: filters match the documents that a slow evaluator matches', (t) => {
  fc.assert(
    fc.property(filter, document(true), (specification, given) => {
      check(
        compileFilter(encode(specification), context).matches(encode(given)) === referenceMatches(specification, given),
        specification,
        given,
      )
    }),
    { numRuns: runs(2000) },
  )
  t.pass()
  t.end()
})

/** A missing field counts as null. Returns null if a path contains an array. */
function shardKey(bytes: Uint8Array, keyPattern: KeyPattern): (RawValue | undefined)[] | null {
  const key = keyPattern.map((field) => findPath(bytes, field.path) ?? nullValue)
  const crossesArray = keyPattern.some(({ path: dotted }) =>
    dotted.split('.').some((_, i, names) => findPath(bytes, names.slice(0, i + 1).join('.'))?.type === BsonType.array),
  )
  return crossesArray ? null : key
}

t.test('property: bounds never exclude a matching document with a single-valued key', (t) => {
  let matched = 0
  fc.assert(
    fc.property(filter, document(true), pattern, fc.boolean(), (specification, given, keyPattern, hashFirst) => {
      const bytes = encode(given)
      const compiled = compileFilter(encode(specification), context)
      const key = shardKey(bytes, keyPattern)
      if (key === null) return
      const used: KeyPattern = hashFirst
        ? keyPattern.map((field, index) => (index === 0 ? { ...field, direction: 'hashed' } : field))
        : keyPattern
      if (hashFirst) key[0] = hashedKeyValue(key[0])
      const inside = contains(boundsFor(compiled.root, used), key)
      if (compiled.matches(bytes)) {
        matched++
        check(inside, specification, given)
        check(
          boundsForOr(compiled.root, used).some((bounds) => contains(bounds, key)),
          specification,
          given,
        )
      }
    }),
    { numRuns: runs(2000) },
  )
  t.ok(matched > 50, `${matched} matches`)
  t.end()
})

t.test('property: exact bounds decide for a single-valued key', (t) => {
  fc.assert(
    fc.property(filter, document(false), pattern, (specification, given, keyPattern) => {
      const bytes = encode(given)
      const compiled = compileFilter(encode(specification), context)
      const bounds = boundsFor(compiled.root, keyPattern)
      const names = new Set(keyPattern.map((field) => field.path))
      const mentioned = JSON.stringify(specification).match(/"([abc](\.\w+)*)":/g) ?? []
      const onlyKeyFields = mentioned.every((name) => names.has(name.slice(1, -2)))
      if (!onlyKeyFields || !bounds.fields.every((field) => field.exact)) return
      check(compiled.matches(bytes) === contains(bounds, shardKey(bytes, keyPattern)!), specification, given)
    }),
    { numRuns: runs(2000) },
  )
  t.pass()
  t.end()
})

t.test('property: bounds over a multikey index include a key of every matching document', (t) => {
  fc.assert(
    fc.property(filter, document(true), fc.constantFrom('a', 'b', 'a.b', 'b.a'), (specification, given, key) => {
      const bytes = encode(given)
      const compiled = compileFilter(encode(specification), context)
      if (!compiled.matches(bytes)) return
      const bounds = boundsFor(compiled.root, [{ path: key, direction: 1 }], { multikey: true })
      const keys = keyTuplesOf(bytes, [fieldPath(key)])
      check(
        keys.some((tuple) => contains(bounds, tuple)),
        specification,
        { given, key },
      )
    }),
    { numRuns: runs(2000) },
  )
  t.pass()
  t.end()
})
