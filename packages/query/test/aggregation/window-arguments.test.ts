import { encode } from '@shardlab/bson'
import t from 'tap'
import { languageOf } from '../../src/index.js'
import { aggregate, codeOf, context, failure, run } from '../support/helpers.js'

t.test('invalid arguments are refused with the code and message of the server', (t) => {
  const rows: [specification: unknown, code: number, message?: string][] = [
    [1, 9, 'the $setWindowFields stage specification must be an object, found int'],
    [{}, 40414, "BSON field '$setWindowFields.output' is missing but a required field"],
    [{ output: {}, foo: 1 }, 40415, "BSON field '$setWindowFields.foo' is an unknown field."],
    [{ output: 1 }, 14],
    [{ output: { a: 1 } }, 9, "The field 'a' must be an object"],
    [{ output: { a: {} } }, 9, 'Expected a $-prefixed window function'],
    [{ output: { a: { b: 1 } } }, 9, 'Expected a $-prefixed window function, b'],
    [{ output: { a: { $summ: 1 } } }, 9, 'Unrecognized window function, $summ'],
    [{ output: { a: { $sum: 1, $avg: 1 } } }, 9, 'Cannot specify two functions in window function spec'],
    [{ output: { a: { $sum: 1, windoww: {} } } }, 9, 'Window function found an unknown argument: windoww'],
    [{ output: { a: { $sum: 1 }, 'a.b': { $sum: 1 } } }, 6307900],
    [{ output: { a: { $rank: {} } } }, 5371602],
    [{ sortBy: { x: 1 }, output: { a: { $rank: 1 } } }, 5371603],
    [{ sortBy: { x: 1 }, output: { a: { $rank: {}, window: {} } } }, 5371601],
    [{ output: { a: { $sum: 1, window: { documents: [-1, 0] } } } }, 5339901],
    [{ sortBy: { x: 1 }, output: { a: { $sum: 1, window: { documents: [1, 0] } } } }, 5339900],
    [{ sortBy: { x: 1 }, output: { a: { $sum: 1, window: { range: [1, 'current'] } } } }, 5339900],
    [{ sortBy: { x: 1 }, output: { a: { $sum: 1, window: { documents: [0.5, 1] } } } }, 9],
    [{ sortBy: { x: 1, y: 1 }, output: { a: { $sum: 1, window: { range: [0, 1] } } } }, 5339902],
    [{ sortBy: { x: -1 }, output: { a: { $sum: 1, window: { range: [0, 1] } } } }, 8947401],
    [
      { sortBy: { x: 1 }, output: { a: { $sum: 1, window: { range: [0, 1], unit: 'eon' } } } },
      9,
      'unknown time unit value: eon',
    ],
    [{ sortBy: { x: 1 }, output: { a: { $sum: 1, window: { documents: [0, 1], unit: 'day' } } } }, 9],
    [{ output: { a: { $derivative: { input: '$x' } } } }, 9, '$derivative requires a sortBy'],
    [
      { sortBy: { x: 1 }, output: { a: { $derivative: { input: '$x' } } } },
      9,
      '$derivative requires explicit window bounds',
    ],
    [{ output: { a: { $shift: { output: '$x', by: 1 } } } }, 9, "'$shift' requires a sortBy"],
    [{ sortBy: { x: 1 }, output: { a: { $shift: { output: '$x', by: 0.5 } } } }, 9],
    [{ sortBy: { x: 1 }, output: { a: { $expMovingAvg: { input: '$x', alpha: 2 } } } }, 9],
    [{ partitionBy: [1], output: {} }, 14, 'An expression used to partition cannot evaluate to value of type array'],
    [{ output: { a: { $firstN: { n: 0, input: '$x' } } } }, 5787908],
    [{ output: { a: { $count: 1 } } }, 9, '$count only accepts an empty object as input'],
    [{ output: { a: { $locf: '$x', window: {} } } }, 9, "'window' field is not allowed in $locf"],
  ]
  for (const [specification, code, message] of rows) {
    const error = failure(() => aggregate([{ $setWindowFields: specification }], []))
    t.equal(error?.code ?? 0, code, JSON.stringify(specification))
    if (message !== undefined) t.equal(error?.message, message)
  }
  t.equal(
    codeOf(() => aggregate([{ $setWindowFields: { partitionBy: '$g', output: {} } }], [{ g: [1] }])),
    14,
  )
  t.end()
})

t.test('window functions are unknown before the release that introduced them', (t) => {
  const stage = [encode({ $setWindowFields: { sortBy: { x: 1 }, output: { a: { $locf: '$v' } } } })]
  t.equal(
    codeOf(() => run(stage, [], { ...context, language: languageOf('4.4') })),
    40324,
  )
  t.equal(
    codeOf(() => run(stage, [], { ...context, language: languageOf('5.0') })),
    9,
  )
  t.equal(
    codeOf(() => run(stage, [], { ...context, language: languageOf('6.0') })),
    0,
  )
  t.end()
})
