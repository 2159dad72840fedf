import { CommandError, Long, type Document } from '@shardlab/bson'
import fc from 'fast-check'
import { aggregate as mingo } from 'mingo'
import t from 'tap'
import { document, pipeline } from '../support/arbitrary/pipeline.js'
import { aggregate } from '../support/helpers.js'
import { runs } from '../support/runs.js'

/** Ignores the order of fields, which differs in mingo. */
function text(documents: readonly object[]): string {
  return JSON.stringify(documents, (_key, value: unknown) => {
    if (value instanceof Long) return value.toNumber()
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  })
}

t.test('property: pipelines give the results of mingo', (t) => {
  let notEmpty = 0
  fc.assert(
    fc.property(fc.array(document, { maxLength: 7 }), pipeline, (given, stages) => {
      const documents = given.map((each, index): Document => ({ _id: index, ...each }))
      let actual: string
      try {
        actual = text(aggregate(stages, documents))
      } catch (error) {
        throw error instanceof CommandError ? new Error(`${error.code} ${error.message}`, { cause: error }) : error
      }
      const expected = text(mingo(structuredClone(documents), stages))
      if (actual !== expected) throw new Error(`${actual} instead of ${expected}`)
      if (actual !== '[]') notEmpty++
    }),
    { numRuns: runs(2000) },
  )
  t.ok(notEmpty > 800, `${notEmpty} of ${runs(2000)}`)
  t.end()
})
