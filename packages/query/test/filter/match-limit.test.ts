import { CommandError, encode } from '@shardlab/bson'
import t from 'tap'
import { compileFilter, compilePattern, languageOf, type EvaluationContext } from '../../src/index.js'
import { aggregate, context, failure, matches, run } from '../support/helpers.js'

const text = `${'a'.repeat(3000)}!`
/** A back reference prevents a search in linear time. */
const worst = '^(a+)+\\1x'

t.test(
  'D103 a search that reaches the match limit does not match in a filter, and is an error in an expression',
  (t) => {
    t.equal(matches({ a: { $regex: worst } }, { a: text }), false)
    t.equal(matches({ a: { $not: { $regex: worst } } }, { a: text }), true)
    for (const operator of ['$regexMatch', '$regexFind', '$regexFindAll']) {
      const stage = { $project: { m: { [operator]: { input: '$a', regex: worst } } } }
      t.match(
        failure(() => aggregate([stage], [{ a: text }])),
        {
          code: 51156,
          message: `Error occurred while executing the regular expression in ${operator}. Result code: match limit exceeded`,
        },
        operator,
      )
      t.match(
        failure(() => run([encode(stage)], [encode({ a: text })], { ...context, language: languageOf('6.0.25') })),
        { message: /Result code: -8$/ },
        'before PCRE2',
      )
    }
    t.end()
  },
)

t.test('a long search stops at the time limit', (t) => {
  const limited: EvaluationContext = {
    ...context,
    checkForInterrupt() {
      if (++checks > 2) throw new CommandError('MaxTimeMSExpired', 'operation exceeded time limit')
    },
  }
  let checks = 0
  const filter = compileFilter(encode({ a: { $regex: '^(a+)+$' } }), limited)
  t.match(
    failure(() => filter.matches(encode({ a: `${'a'.repeat(1_000_000)}!` }))),
    { code: 50 },
  )
  t.end()
})

t.test('expressions find the same in long texts as in short ones', (t) => {
  const found = (input: string) =>
    aggregate([{ $project: { m: { $regexFindAll: { input, regex: '(x+x+)+(y)?' } } } }], [{}])[0]!['m']
  const long = found(`é😀${'xxx '.repeat(3)}${'xx😀'.repeat(10)}xxy`) as {
    match: string
    idx: number
    captures: unknown[]
  }[]
  t.equal(long.length, 14)
  t.match(long[0], { match: 'xxx', idx: 2, captures: ['xxx', null] })
  t.match(long[3], { match: 'xx', idx: 14 })
  t.match(long[13], { match: 'xxy', captures: ['xx', 'y'] })
  t.same(
    aggregate([{ $project: { m: { $regexFindAll: { input: 'ab😀', regex: '' } } } }], [{}])[0]!['m'].map(
      ({ idx }: { idx: number }) => idx,
    ),
    [0, 1, 2, 3],
  )
  t.end()
})

t.test('groups that are nested too deeply are refused, as by PCRE', (t) => {
  const nested = (depth: number) => `${'('.repeat(depth)}a${')'.repeat(depth)}`
  t.equal(compilePattern(nested(250), '').test('a'.repeat(20)), true)
  t.match(
    failure(() => compilePattern(nested(251), '')),
    { code: 51091, message: 'Regular expression is invalid: parentheses are too deeply nested' },
  )
  t.end()
})
