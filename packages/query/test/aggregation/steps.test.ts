/** A stage never emits many documents at once, so that the member can give up its turn. */
import fc from 'fast-check'
import t from 'tap'
import { decode, encode, type Document } from '@shardlab/bson'
import { check } from '@shardlab/bson/testing'
import { compilePipeline } from '../../src/index.js'
import { context } from '../support/helpers.js'

const mostInStep = 64

/** The results, and the most that one call has output. */
function run(pipeline: readonly Document[], input: readonly Document[]): { results: Document[]; most: number } {
  const running = compilePipeline(
    pipeline.map((stage) => encode(stage)),
    context,
  ).open()
  const { output } = running
  const results: Document[] = []
  let most = 0
  const take = () => {
    most = Math.max(most, output.length)
    results.push(...output.splice(0).map((bytes) => decode(bytes)))
  }
  const settle = () => {
    take()
    while (running.step() > 0) take()
  }
  for (const document of input) {
    running.push(encode(document))
    settle()
  }
  running.end()
  settle()
  return { results, most }
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

t.test('$unwind of a long array and $densify emit their documents in steps', async (t) => {
  const unwound = run([{ $unwind: '$a' }], [{ a: numbers(1000) }])
  t.same(
    unwound.results,
    numbers(1000).map((a) => ({ a })),
  )
  t.ok(unwound.most <= mostInStep, `${unwound.most}`)

  const range = { step: 1, bounds: [0, 1000] }
  const densified = run([{ $densify: { field: 'a', range } }], [{ a: 500 }, { a: 3 }])
  t.same(
    densified.results,
    numbers(1000).map((a) => ({ a })),
  )
  t.ok(densified.most <= mostInStep, `${densified.most}`)
})

t.test('long and short arrays in any order are unwound in the order of the input (property)', (t) => {
  const length = fc.oneof(fc.nat(3), fc.constantFrom(63, 64, 65, 100))
  check(
    fc.property(
      fc.array(fc.tuple(length, length), { maxLength: 5 }),
      fc.option(fc.nat(300), { nil: undefined }),
      fc.boolean(),
      (lengths, limit, preserveNullAndEmptyArrays) => {
        const unwind = (path: string) => ({ $unwind: { path: `$${path}`, preserveNullAndEmptyArrays } })
        const input = lengths.map(([a, b], d) => ({ d, a: numbers(a), b: numbers(b) }))
        const pipeline = [unwind('a'), unwind('b'), ...(limit === undefined ? [] : [{ $limit: limit + 1 }])]
        const { results, most } = run(pipeline, input)
        const each = (values: number[]) => (values.length > 0 || !preserveNullAndEmptyArrays ? values : [undefined])
        const expected = input
          .flatMap(({ d, a, b }) => each(a).flatMap((x) => each(b).map((y) => ({ d, a: x, b: y }))))
          .slice(0, limit === undefined ? undefined : limit + 1)
        return JSON.stringify(results) === JSON.stringify(expected) && most <= mostInStep * 16
      },
    ),
    200,
  )
  t.end()
})
