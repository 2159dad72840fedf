/** The matcher for patterns with which JavaScript's engine could take too long. */
import fc from 'fast-check'
import t from 'tap'
import { compilePattern } from '../../src/index.js'
import { backtrackingCost } from '../../src/filter/patterns/backtracking-cost.js'
import { compileProgram, Op } from '../../src/filter/patterns/program.js'
import { limitReached, runProgram } from '../../src/filter/patterns/run-program.js'
import { translatePattern } from '../../src/filter/patterns/syntax.js'
import { parseTree } from '../../src/filter/patterns/tree.js'

interface Found {
  readonly index: number
  readonly groups: readonly (string | undefined)[]
}

function byProgram(source: string, flags: string, text: string): Found | null {
  const program = compileProgram(parseTree(source), flags)!
  const registers = runProgram(program, text, 0, backtrackingCost(source, flags).starts)
  if (registers === limitReached) throw new Error('match limit')
  if (registers === null) return null
  const groups = Array.from({ length: program.groupCount + 1 }, (_, group) => {
    const [start, end] = [registers[2 * group]!, registers[2 * group + 1]!]
    return start < 0 || end < 0 ? undefined : text.slice(start, end)
  })
  return { index: registers[0]!, groups }
}

const hasEmptyLoops = (source: string, flags: string) =>
  compileProgram(parseTree(source), flags)!.op.includes(Op.progress)

function byJavaScript(source: string, flags: string, text: string): Found | null {
  const match = new RegExp(source, flags).exec(text)
  return match === null ? null : { index: match.index, groups: [...match] }
}

const { pattern } = fc.letrec<{ pattern: string }>((tie) => {
  const atom = fc.constantFrom(
    ...['a', 'b', 'A', 'k', 'ñ', '😀', '.', '\\d', '\\w', '\\W', '\\s', '[ab]', '[^a]', '[a-c0]', '\\x{212a}', '\\.'],
    ...['^', '$', '\\b', '\\B', '\\A', '\\z', '\\1', '[\\]b]', '\\p{Lu}'],
  )
  const inner = tie('pattern')
  return {
    pattern: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      atom,
      fc.array(inner, { minLength: 2, maxLength: 4 }).map((parts) => parts.join('')),
      fc.tuple(inner, inner).map(([left, right]) => `(?:${left}|${right})`),
      fc
        .tuple(fc.constantFrom('(', '(?:', '(?=', '(?!', '(?<=', '(?<!', '(?i:'), inner)
        .map(([opening, body]) => `${opening}${body})`),
      fc
        .tuple(inner, fc.constantFrom('*', '+', '?', '*?', '+?', '??', '{2}', '{0,2}', '{1,3}?', '{2,}'))
        .map(([body, quantifier]) => `(?:${body})${quantifier}`),
      inner.map((body) => `(${body})`),
    ),
  }
})
const text = fc.string({
  unit: fc.constantFrom('a', 'b', 'A', 'k', '0', ' ', '\n', 'ñ', '😀', '\u212a', 'c'),
  maxLength: 10,
})

t.test('a program finds the matches and groups that JavaScript finds (property)', (t) => {
  const numRuns = process.env['SHARDLAB_LONG'] === '1' ? 200_000 : 4000
  let compared = 0
  fc.assert(
    fc.property(pattern, fc.subarray(['i', 'm', 's']), text, (given, options, subject) => {
      let source: string
      let flags: string
      try {
        const translated = translatePattern(given, new Set(options))
        source = translated.text
        flags = translated.ignoreCase ? 'iu' : 'u'
        new RegExp(source, flags)
      } catch {
        return
      }
      compared++
      // JavaScript's engine may begin an empty match inside of a surrogate pair.
      const expected = byJavaScript(source, flags, subject)
      if (expected !== null && subject.charCodeAt(expected.index) >>> 10 === 0x37) return
      const actual = byProgram(source, flags, subject)
      if (hasEmptyLoops(source, flags)) {
        if (actual?.index !== expected?.index) throw new Error(`found at ${actual?.index}`)
      } else if (JSON.stringify(actual) !== JSON.stringify(expected)) throw new Error(JSON.stringify(actual))
    }),
    { numRuns },
  )
  t.ok(compared > numRuns / 2)
  t.end()
})

const long = 'a'.repeat(100_000)

t.test('no pattern and text make a search endless', (t) => {
  const table: [pattern: string, options: string, text: string, expected: boolean][] = [
    ['^(a+)+$', '', `${long}!`, false],
    ['^(a+)+$', 'i', `${long}!`, false],
    ['^(a|a)*$', '', `${long}!`, false],
    ['^(a|aa)+$', '', `${long}!`, false],
    ['(x+x+)+y', '', 'x'.repeat(20_000), false],
    ['(.*a){12}b', '', long.slice(0, 5000), false],
    ['^(.*?,){11}P', '', '1,'.repeat(5000), false],
    ['a.*b.*c.*d', '', 'abc'.repeat(10_000), false],
    ['^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+$', '', `${long.slice(0, 20_000)}!`, false],
    ['\\d+x', '', '1'.repeat(100_000), false],
    ['(a?){100}a{100}$', '', long.slice(0, 100), true],
    ['(\\w+\\s?)+$', '', `${'word '.repeat(2000)}!`, false],
    ['((a*)*)*b', '', long.slice(0, 2000), false],
    // These end at the limit of steps.
    ['^(a+)+\\1x', '', long.slice(0, 3000), false],
    ['^(?=(a+)+b)', '', long.slice(0, 3000), false],
    ['^(?!(a+)+b)x', '', long.slice(0, 3000), false],
  ]
  for (const [source, options, subject, expected] of table) {
    const started = performance.now()
    t.equal(compilePattern(source, options).test(subject), expected, source)
    t.ok(performance.now() - started < 5000, `${source} ends`)
  }
  t.end()
})

t.test("common patterns are left to JavaScript's engine", (t) => {
  const lengthMax = (source: string, options = '') => {
    const translated = translatePattern(source, new Set(options))
    return backtrackingCost(translated.text, translated.ignoreCase ? 'iu' : 'u').lengthMax
  }
  for (const source of [
    'abc',
    '^abc',
    'abc$',
    '^a.c$',
    'a|b|c',
    '^\\d{3}-\\d{4}$',
    '^.*abc',
    '^[^@]+@',
    '^\\s*$',
    'colou?r',
  ])
    for (const options of ['', 'i']) t.equal(lengthMax(source, options), Infinity, source)
  for (const source of [
    'a.*b',
    '^[\\w.-]+@([\\w-]+\\.)+[a-z]{2,}$',
    '\\w+@\\w+',
    '^(\\d{1,3}\\.){3}\\d{1,3}$',
    '(?=.*a)b',
  ])
    t.ok(lengthMax(source) >= 300, `${source}: ${lengthMax(source)}`)
  for (const source of ['^(a+)+$', '(\\w+\\s?)+$', '(a|a)*b', '(a?){30}', '((ab)*c?)*d'])
    t.equal(lengthMax(source), 12, source)
  t.end()
})
