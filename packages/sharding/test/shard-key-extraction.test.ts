/** Compares the extraction with a slow model that walks decoded documents. */
import { decode, encode, encodeKeyString, hashValue, int64Value, toRawValue, type Document } from '@shardlab/bson'
import { check } from '@shardlab/bson/testing'
import fc from 'fast-check'
import t from 'tap'
import type { NoKeyReason } from '../src/index.js'
import { patternOf } from './support/placements.js'

const names = ['a', 'b', 'c']
const leaf = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(null, 'x', true, 1.5))
const value = fc.letrec<{ any: unknown; document: Document }>((tie) => ({
  any: fc.oneof(
    { weight: 3, arbitrary: leaf },
    { weight: 2, arbitrary: tie('document') },
    { weight: 1, arbitrary: fc.array(tie('any'), { maxLength: 2 }) },
  ),
  document: fc.dictionary(fc.constantFrom(...names), tie('any'), { maxKeys: 3 }) as fc.Arbitrary<Document>,
}))
const path = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.'))
const pattern = fc
  .tuple(fc.uniqueArray(path, { minLength: 1, maxLength: 3 }), fc.integer({ min: -1, max: 2 }))
  .map(([paths, hashed]) => Object.fromEntries(paths.map((each, i) => [each, i === hashed ? 'hashed' : 1])))

/** Arrays are not entered. */
function valueAt(document: Document, parts: readonly string[]): { value: unknown } | NoKeyReason {
  let here: unknown = document
  for (const part of parts) {
    if (Array.isArray(here)) return 'array'
    if (here === null || typeof here !== 'object' || !Object.hasOwn(here, part)) return 'missing'
    here = (here as Document)[part]
  }
  return Array.isArray(here) ? 'array' : { value: here }
}

/** The first field without a value decides. */
function expected(key: Document, document: Document, missingIsNull: boolean): string {
  const values: unknown[] = []
  for (const [fieldPath, kind] of Object.entries(key)) {
    const found = valueAt(document, fieldPath.split('.'))
    if (found === 'array' || (found === 'missing' && !missingIsNull)) return found
    const held = toRawValue(found === 'missing' ? null : found.value)
    values.push(kind === 'hashed' ? int64Value(hashValue(held)) : held)
  }
  return encodeKeyString(values as ReturnType<typeof toRawValue>[])
}

t.test('extracted keys are those of the model', async () => {
  check(
    fc.property(pattern, value.document, fc.boolean(), (key, document, missingIsNull) => {
      const extracted = patternOf(key).extract(encode(document), { missingIsNull })
      return (
        (typeof extracted === 'string' ? extracted : extracted.keyString) === expected(key, document, missingIsNull)
      )
    }),
    process.env['SHARDLAB_LONG'] === '1' ? 20_000 : 2000,
  )
})

t.test('the key of a document is a valid bound of a chunk', async () => {
  check(
    fc.property(pattern, value.document, (key, document) => {
      const shardKey = patternOf(key)
      const extracted = shardKey.extract(encode(document))
      return (
        typeof extracted === 'string' ||
        shardKey.keyStringOfBound(shardKey.boundDocument(extracted.values)) === extracted.keyString
      )
    }),
    500,
  )
})

t.test('additional fields do not change the order of the fields before them', async () => {
  check(
    fc.property(pattern, path, value.document, value.document, (key, further, one, other) => {
      if (Object.hasOwn(key, further)) return true
      const short = patternOf(key)
      const long = patternOf({ ...key, [further]: 1 })
      const [a, b] = [one, other].map((document) => ({
        short: short.extract(encode(document)),
        long: long.extract(encode(document)),
      }))
      if ([a!, b!].some((keys) => typeof keys.short === 'string' || typeof keys.long === 'string')) return true
      const place = (keys: NonNullable<typeof a>, which: 'short' | 'long') =>
        (keys[which] as { keyString: string }).keyString
      return place(a!, 'short') >= place(b!, 'short') || place(a!, 'long') < place(b!, 'long')
    }),
    1000,
  )
})

t.test('a key that extends another one extends its bounds', async (t) => {
  const old = patternOf({ a: 1, 'b.c': 'hashed' })
  t.ok(old.isExtendedBy(patternOf({ a: 1, 'b.c': 'hashed', d: 1 })))
  t.ok(old.isExtendedBy(old))
  t.notOk(old.isExtendedBy(patternOf({ a: 1 })))
  t.notOk(old.isExtendedBy(patternOf({ a: 1, 'b.c': 1, d: 1 })), 'values count')
  t.notOk(old.isExtendedBy(patternOf({ 'b.c': 'hashed', a: 1, d: 1 })), 'order counts')
  const next = patternOf({ a: 1, b: 1 })
  t.same(decode(next.extendBound(encode({ a: 5 }), toRawValue('filler'))), { a: 5, b: 'filler' })
})
