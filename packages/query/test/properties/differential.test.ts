import { CommandError, decode, encode, type Document } from '@shardlab/bson'
import fc from 'fast-check'
import t from 'tap'
import { compileFilter, compileProjection, compileUpdate } from '../../src/index.js'
import { placedUpdate, shaped, target, update } from '../support/arbitrary/update.js'
import { document, path } from '../support/arbitrary/documents.js'
import { aggregate, context } from '../support/helpers.js'
import { referenceMatches, type Plain } from '../support/reference/filter.js'
import { referenceProjection } from '../support/reference/projection.js'
import { ParallelArrays, referenceSort, type PlainSort } from '../support/reference/sort.js'
import { referenceUpdate, Refused } from '../support/reference/update.js'
import { referenceWindow, windowFunctionsOfRows, type PlainWindow, type Row } from '../support/reference/window.js'
import { runs } from '../support/runs.js'

/** Compares numbers and the order of fields; ignores the sign of zero. */
function text(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'number' && !Number.isFinite(each) ? String(each) : each,
  )
}

function outcome(action: () => unknown): string {
  try {
    return text(action())
  } catch (error) {
    if (error instanceof CommandError || error instanceof Refused || error instanceof ParallelArrays) return 'refused'
    throw error
  }
}

function same(actual: () => unknown, expected: () => unknown): string {
  const [is, wanted] = [outcome(actual), outcome(expected)]
  if (is !== wanted) throw new Error(`${is} instead of ${wanted}`)
  return is
}

t.test('property: updates give the results of a slow evaluator', (t) => {
  const seen = { refused: 0, unchanged: 0, changed: 0 }
  fc.assert(
    fc.property(target, update, (given, specification) => {
      const bytes = encode(given)
      const actual = () => decode(compileUpdate({ document: encode(specification) }, {}, context).apply(bytes) ?? bytes)
      const result = same(actual, () => referenceUpdate(given, specification))
      seen[result === 'refused' ? 'refused' : result === text(given) ? 'unchanged' : 'changed']++
    }),
    { numRuns: runs(2000) },
  )
  t.ok(seen.changed > runs(400), JSON.stringify(seen))
  t.end()
})

t.test('property: positional updates reach the elements that a slow evaluator reaches', (t) => {
  const seen = { refused: 0, unchanged: 0, changed: 0 }
  fc.assert(
    fc.property(shaped, placedUpdate, (given, placed) => {
      const bytes = encode(given)
      const matched = (given['e'] as Plain[]).findIndex((element) => referenceMatches({ n: placed.match }, element))
      const filter = compileFilter(encode({ e: { $elemMatch: { n: placed.match } } }), context)
      const options = { arrayFilters: Object.values(placed.arrayFilters).map((each) => encode(each as Document)) }
      const actual = () =>
        decode(compileUpdate({ document: encode(placed.update) }, options, context).apply(bytes, { filter }) ?? bytes)
      const places = { arrayFilters: placed.arrayFilters, ...(matched < 0 ? {} : { matched }) }
      const result = same(actual, () => referenceUpdate(given, placed.update, places))
      seen[result === 'refused' ? 'refused' : result === text(given) ? 'unchanged' : 'changed']++
    }),
    { numRuns: runs(2000) },
  )
  t.ok(seen.changed > runs(1000) && seen.refused < runs(700), JSON.stringify(seen))
  t.end()
})

const sortPath = path.filter((dotted) => !/\d/.test(dotted))
const sort: fc.Arbitrary<PlainSort> = fc
  .uniqueArray(fc.tuple(sortPath, fc.constantFrom<1 | -1>(1, -1)), {
    minLength: 1,
    maxLength: 3,
    selector: ([name]) => name,
  })
  .map((fields) => Object.fromEntries(fields))

t.test('property: documents sort in the order of a slow evaluator', (t) => {
  fc.assert(
    fc.property(fc.array(document(true), { maxLength: 8 }), sort, (documents, by) => {
      const numbered = documents.map((each, index) => ({ ...each, n: index }))
      same(
        () => aggregate([{ $sort: by }], numbered).map((each) => each['n']),
        () => referenceSort(numbered, by).map((each) => each.n),
      )
    }),
    { numRuns: runs(2000) },
  )
  t.pass()
  t.end()
})

const isPartOf = (a: string, b: string) => a === b || b.startsWith(`${a}.`)

t.test('property: projections give the results of a slow evaluator', (t) => {
  const paths = fc
    .uniqueArray(sortPath, { minLength: 1, maxLength: 3 })
    .filter((list) => list.every((a) => list.every((b) => a === b || !isPartOf(a, b))))
  fc.assert(
    fc.property(document(true), paths, fc.boolean(), (given, list, keep) => {
      const withId: { [name: string]: Plain } = { _id: 1, ...given }
      const specification = Object.fromEntries(list.map((each) => [each, keep ? 1 : 0]))
      same(
        () => decode(compileProjection(encode(specification), context).apply(encode(withId))),
        () => referenceProjection(withId, list, keep),
      )
    }),
    { numRuns: runs(2000) },
  )
  t.pass()
  t.end()
})

t.test('property: windows contain the rows that a slow evaluator selects', (t) => {
  const row = fc.record({
    g: fc.constantFrom('a', 'b'),
    t: fc.nat(6),
    v: fc.oneof(fc.integer({ min: -3, max: 5 }), fc.constant(null)),
  })
  const end = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom('current' as const))
  const ends = fc
    .tuple(fc.oneof(end, fc.constant('unbounded' as const)), fc.oneof(end, fc.constant('unbounded' as const)))
    .filter(
      ([low, high]) =>
        low === 'unbounded' ||
        high === 'unbounded' ||
        Number(low === 'current' ? 0 : low) <= Number(high === 'current' ? 0 : high),
    )
  const window: fc.Arbitrary<PlainWindow> = fc.oneof(
    fc.constant({}),
    ends.map((documents) => ({ documents })),
    ends.map((range) => ({ range })),
  )
  fc.assert(
    fc.property(
      fc.array(row, { maxLength: 9 }),
      window,
      fc.constantFrom(...Object.keys(windowFunctionsOfRows)),
      (given, where, name) => {
        const rows = given.map((each, index): Row => ({ _id: index, ...each }))
        // Rows with the same t are ordered by _id; a range requires t alone.
        const sortBy = where.range === undefined ? { t: 1, _id: 1 } : { t: 1 }
        const output = { w: { [name]: '$v', ...(Object.keys(where).length === 0 ? {} : { window: where }) } }
        const stages = [{ $setWindowFields: { partitionBy: '$g', sortBy, output } }, { $sort: { _id: 1 } }]
        same(
          () =>
            aggregate(stages, rows as unknown as Document[]).map(({ w }) =>
              name === '$addToSet' ? w.toSorted((a: number, b: number) => (a ?? -99) - (b ?? -99)) : w,
            ),
          () => referenceWindow(rows, name, where),
        )
      },
    ),
    { numRuns: runs(2000) },
  )
  t.pass()
  t.end()
})
