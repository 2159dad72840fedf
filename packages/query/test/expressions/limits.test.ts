import { CommandError, encode, toRawValue } from '@shardlab/bson'
import t from 'tap'
import { compileExpression, compilePipeline, type EvaluationContext } from '../../src/index.js'
import { context, failure } from '../support/helpers.js'

const evaluate = (expression: unknown, over: EvaluationContext = context) =>
  compileExpression(toRawValue(expression), over).evaluateOn(encode({ text: 'x'.repeat(1000), list: [1, 2] }))

const doubled = (times: number, of: unknown) => ({
  $reduce: { input: { $range: [0, times] }, initialValue: of, in: { $concatArrays: ['$$value', '$$value'] } },
})

t.test('D108 an intermediate value of more than 100 MB is refused', (t) => {
  const many = (value: unknown) => ({ $map: { input: { $range: [0, 200_000] }, in: value } })
  const table: [name: string, expression: unknown][] = [
    ['$concatArrays', doubled(40, '$list')],
    ['$map', many('$text')],
    [
      '$concat',
      { $reduce: { input: { $range: [0, 40] }, initialValue: '$text', in: { $concat: ['$$value', '$$value'] } } },
    ],
    [
      '$replaceAll',
      {
        $let: { vars: { a: doubledText(13) }, in: { $replaceAll: { input: '$$a', find: 'x', replacement: '$text' } } },
      },
    ],
    ['An array', { $reduce: { input: { $range: [0, 40] }, initialValue: '$text', in: ['$$value', '$$value'] } }],
    [
      'An object',
      { $reduce: { input: { $range: [0, 40] }, initialValue: '$text', in: { a: '$$value', b: '$$value' } } },
    ],
  ]
  for (const [name, expression] of table)
    t.match(
      failure(() => evaluate(expression)),
      {
        codeName: 'ExceededMemoryLimit',
        message: `${name} would use too much memory and cannot spill`,
      },
    )
  t.equal(
    failure(() => evaluate(doubled(12, '$list'))),
    null,
  )
  t.end()
})

function doubledText(times: number): unknown {
  return { $reduce: { input: { $range: [0, times] }, initialValue: '$text', in: { $concat: ['$$value', '$$value'] } } }
}

t.test('loops over elements of one document stop at the time limit', (t) => {
  let checks = 0
  const limited: EvaluationContext = {
    ...context,
    checkForInterrupt() {
      if (++checks > 20) throw new CommandError('MaxTimeMSExpired', 'operation exceeded time limit')
    },
  }
  const range = { $range: [0, 5000] }
  const loops = [
    { $map: { input: range, in: '$$this' } },
    { $filter: { input: range, cond: true } },
    { $reduce: { input: range, initialValue: 0, in: '$$this' } },
    { $concatArrays: [range, '$list'] },
    { $sortArray: { input: '$long', sortBy: 1 } },
    { $sortArray: { input: { $map: { input: '$long', in: { a: '$$this' } } }, sortBy: { a: 1 } } },
    { $setUnion: ['$long', range] },
    { $setIntersection: ['$long', range] },
    { $setDifference: ['$long', [-1]] },
    { $setEquals: ['$long', range] },
    { $setIsSubset: ['$long', range] },
    { $minN: { input: '$long', n: 2 } },
    { $map: { input: { $range: [0, 100] }, in: { $map: { input: { $range: [0, 100] }, in: '$list' } } } },
  ]
  const long = Array.from({ length: 5000 }, (_, i) => (i * 7919) % 5000)
  for (const loop of loops) {
    checks = 0
    const pipeline = compilePipeline([encode({ $project: { a: loop, list: 1 } })], limited)
    t.match(
      failure(() => pipeline.open().push(encode({ list: [1], long }))),
      { code: 50 },
      JSON.stringify(loop),
    )
  }
  t.end()
})
