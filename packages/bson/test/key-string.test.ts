import t from 'tap'
import fc from 'fast-check'
import {
  encodeKeyString,
  keyStringOfDocument,
  keyStringUpperBound,
  nullValue,
  RawValue,
  toRawValue,
  undefinedValue,
  Long,
} from '@shardlab/bson'
import { numberModel, valueModel, valuePair } from './support/arbitrary.js'
import { documentBytes, rawValue, slowCompare, type Model } from './support/model.js'
import { check } from './support/check.js'

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

t.test('string order is the canonical order', async () => {
  check(
    fc.property(
      valuePair,
      ([a, b]) => order(encodeKeyString([rawValue(a)]), encodeKeyString([rawValue(b)])) === slowCompare(a, b),
    ),
    5000,
  )
})

t.test('numbers of all types are in canonical order', async () => {
  check(
    fc.property(
      numberModel,
      numberModel,
      (a, b) => order(encodeKeyString([rawValue(a)]), encodeKeyString([rawValue(b)])) === slowCompare(a, b),
    ),
    5000,
  )
})

const tuple = fc.array(fc.tuple(valuePair, fc.boolean()), { minLength: 1, maxLength: 4 })

function compareTuples(fields: readonly (readonly [readonly [Model, Model], boolean])[]): number {
  for (const [[a, b], descending] of fields) {
    const result = slowCompare(a, b)
    if (result !== 0) return descending ? -result : result
  }
  return 0
}

t.test('compound keys with descending fields are in canonical order', async () => {
  check(
    fc.property(tuple, (fields) => {
      const descending = fields.map(([, down]) => down)
      const left = encodeKeyString(
        fields.map(([[a]]) => rawValue(a)),
        descending,
      )
      const right = encodeKeyString(
        fields.map(([[, b]]) => rawValue(b)),
        descending,
      )
      return order(left, right) === compareTuples(fields)
    }),
    3000,
  )
})

t.test('a key is a prefix of longer tuples and never of other tuples of its length', async () => {
  check(
    fc.property(tuple, valueModel, fc.boolean(), (fields, more, down) => {
      const descending = [...fields.map(([, d]) => d), down]
      const left = fields.map(([[a]]) => rawValue(a))
      const right = fields.map(([[, b]]) => rawValue(b))
      const a = encodeKeyString(left, descending)
      const b = encodeKeyString(right, descending)
      const longer = encodeKeyString([...left, rawValue(more)], descending)
      const upper = keyStringUpperBound(a)
      return (
        longer.length > a.length &&
        longer.startsWith(a) &&
        (a === b || (!a.startsWith(b) && !b.startsWith(a))) &&
        longer < upper &&
        (a === b || order(b, upper) === order(b, a)) &&
        (a === b || order(encodeKeyString([...right, rawValue(more)], descending), upper) === order(b, a))
      )
    }),
    3000,
  )
})

t.test('a document has the KeyString of the tuple of its values', async () => {
  check(
    fc.property(tuple, (fields) => {
      const descending = fields.map(([, down]) => down)
      const document = documentBytes(fields.map(([[a]], i) => [`f${i}`, a] as const))
      return (
        keyStringOfDocument(document, descending) ===
        encodeKeyString(
          fields.map(([[a]]) => rawValue(a)),
          descending,
        )
      )
    }),
  )
})

t.test('a missing value is encoded as null, undefined is not', async (t) => {
  t.equal(encodeKeyString([undefined]), encodeKeyString([nullValue]))
  t.not(encodeKeyString([undefinedValue]), encodeKeyString([nullValue]))
  t.equal(encodeKeyString([]), '')
})

t.test('numbers within one step of a double are in order', async (t) => {
  for (const edge of [
    0n,
    1n,
    2n ** 53n,
    2n ** 54n,
    2n ** 60n + 512n,
    2n ** 62n,
    2n ** 63n - 2000n,
    -(2n ** 53n),
    -(2n ** 60n),
    -(2n ** 62n),
    -(2n ** 63n) + 2000n,
  ]) {
    const models: Model[] = []
    for (let delta = -1100n; delta <= 1100n; delta += delta > -4n && delta < 4n ? 1n : 183n) {
      const whole = edge + delta
      models.push(
        { kind: 'int64', value: whole },
        { kind: 'decimal128', text: `${whole}` },
        { kind: 'double', value: Number(whole) },
      )
      for (const part of ['25', '5', '75']) models.push({ kind: 'decimal128', text: `${whole}.${part}` })
    }
    const keys = models.map((model) => encodeKeyString([rawValue(model)]))
    const wrong = models.flatMap((a, i) =>
      models.filter((b, j) => order(keys[i]!, keys[j]!) !== slowCompare(a, b)).map((b) => [a, b]),
    )
    t.same(wrong, [], `around ${edge}`)
  }
})

t.test('every character is one byte', async () => {
  check(
    fc.property(valueModel, fc.boolean(), (model, down) =>
      [...encodeKeyString([rawValue(model)], [down])].every((character) => character.charCodeAt(0) <= 0xff),
    ),
  )
})

t.test('a value larger than the buffer can be encoded', async (t) => {
  const long = 'ab\0'.repeat(50_000)
  const a = encodeKeyString([toRawValue(long), toRawValue(Long.fromNumber(1))])
  const b = encodeKeyString([toRawValue(long), toRawValue(2)])
  t.ok(a < b)
  t.ok(a > encodeKeyString([toRawValue(long.slice(1))]) === long > long.slice(1))
})

t.test('an unknown type byte throws', async (t) => {
  t.throws(() => encodeKeyString([new RawValue(0x33, new Uint8Array(0), 0, 0)]), { message: 'not a BSON type: 51' })
})
