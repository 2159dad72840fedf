import { CommandError, decode, encode } from '@shardlab/bson'
import fc from 'fast-check'
import t from 'tap'
import { compileProjection, compileUpdate } from '../src/index.js'
import { target, update } from './support/arbitrary-update.js'
import { document, path } from './support/arbitrary.js'
import { aggregate, context } from './support/helpers.js'
import type { Plain } from './support/reference.js'
import { referenceProjection } from './support/reference-projection.js'
import { ParallelArrays, referenceSort, type PlainSort } from './support/reference-sort.js'
import { referenceUpdate, Refused } from './support/reference-update.js'
import { runs } from './support/runs.js'

/** Numbers and the order of fields count, the sign of zero does not. */
function text(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => (typeof each === 'number' && !Number.isFinite(each) ? String(each) : each))
}

/** What the action gives as text, or that it was refused. */
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

t.test('property: updates do what a slow evaluator does', (t) => {
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
  t.ok(seen.changed > 500, JSON.stringify(seen))
  t.end()
})

const sortPath = path.filter((dotted) => !/\d/.test(dotted))
const sort: fc.Arbitrary<PlainSort> = fc
  .uniqueArray(fc.tuple(sortPath, fc.constantFrom<1 | -1>(1, -1)), { minLength: 1, maxLength: 3, selector: ([name]) => name })
  .map((fields) => Object.fromEntries(fields))

t.test('property: documents are sorted as a slow evaluator sorts them', (t) => {
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

t.test('property: projections keep and drop what a slow evaluator does', (t) => {
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
