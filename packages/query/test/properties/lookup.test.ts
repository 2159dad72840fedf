import { encode, Long, type Document } from '@shardlab/bson'
import fc from 'fast-check'
import t from 'tap'
import { compileFilter } from '../../src/index.js'
import { joined } from '../support/foreign.js'
import { context } from '../support/helpers.js'

const value = fc.oneof(
  fc.constantFrom<unknown>(null, 1, 2, 'a', 'b', Long.fromNumber(2), 2.5),
  fc.array(fc.constantFrom<unknown>(null, 1, 2, 'a', [1, 2]), { maxLength: 3 }),
  fc.record({ x: fc.constantFrom<unknown>(1, null, [1, 'a']) }, { requiredKeys: [] }),
  fc.array(fc.record({ x: fc.constantFrom<unknown>(1, 2, 'a') }, { requiredKeys: [] }), { maxLength: 2 }),
)
const collection = fc
  .array(fc.record({ a: value, b: value }, { requiredKeys: [] }), { maxLength: 6 })
  .map((documents) => documents.map((document, _id) => ({ _id, ...document })))

function reference(document: unknown, names: readonly string[]): unknown[] {
  const [name, ...rest] = names
  if (name === undefined) return Array.isArray(document) ? document : [document]
  if (Array.isArray(document)) return document.flatMap((each) => (isObject(each) ? reference(each, names) : []))
  if (!isObject(document) || !Object.hasOwn(document, name)) return []
  return reference(document[name], rest)
}

const isObject = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Long)

t.test('property: $lookup joins the documents of a nested loop', (t) => {
  fc.assert(
    fc.property(
      collection,
      collection,
      fc.constantFrom('a', 'a.x', 'b'),
      fc.constantFrom('a', 'b', 'b.x'),
      (local, foreign, from, to) => {
        const expected = local.map((document) => {
          const values = reference(document, from.split('.'))
          const wanted = values.length === 0 ? [null] : values
          return foreign
            .filter((each) =>
              wanted.some((each1) => compileFilter(encode({ [to]: { $eq: each1 } }), context).matches(encode(each))),
            )
            .map(({ _id }) => _id)
        })
        const found = joined(local, foreign, { localField: from, foreignField: to })
        return JSON.stringify(found) === JSON.stringify(expected)
      },
    ),
    { numRuns: process.env.SHARDLAB_LONG === '1' ? 20_000 : 500 },
  )
  t.end()
})
