import t from 'tap'
import { compilePattern } from '../../src/index.js'
import { codeOf } from '../support/helpers.js'

/** Source: the pcre2pattern manual. */
const patterns: readonly (readonly [
  pattern: string,
  options: string,
  matching: readonly string[],
  others: readonly string[],
])[] = [
  ['a$', '', ['a', 'a\n'], ['a\nb', 'a\n\n', 'ab']],
  ['a$', 'm', ['a', 'a\nb'], ['a\rb']],
  ['^b', 'm', ['b', 'a\nb'], ['ab', 'a\r']],
  ['\\n^', 'm', ['a\nb'], ['a\n']],
  ['a.b', '', ['a\rb', 'a\u2028b', 'a😀b'], ['a\nb', 'ab']],
  ['a.b', 's', ['a\nb'], ['ab']],
  ['^\\Aa\\z', '', ['a'], ['a\n']],
  ['a\\Z', '', ['a', 'a\n'], ['ab']],
  ['a\\sb', '', ['a b', 'a\tb', 'a\vb'], ['a\u00a0b', 'a\u2003b']],
  ['a\\Sb', '', ['a\u00a0b'], ['a b']],
  ['a[\\s]b', '', ['a b'], ['a\u00a0b']],
  ['a[^\\S]b', '', ['a b'], ['a\u00a0b', 'axb']],
  ['a\\hb', '', ['a\tb', 'a\u00a0b'], ['a\nb']],
  ['a\\Hb', '', ['axb'], ['a b']],
  ['a\\vb', '', ['a\nb', 'a\u2028b'], ['a b']],
  ['a\\Vb', '', ['a b'], ['a\nb']],
  ['a\\Rb', '', ['a\r\nb', 'a\nb', 'a\u0085b'], ['a\n\rb', 'aRb']],
  ['a\\Nb', 's', ['axb'], ['a\nb', 'aN']],
  ['\\ea\\a', '', ['\u001ba\u0007'], ['eaa']],
  ['\\x41\\x{263a}\\x{1F600}\\101\\o{102}', '', ['A☺😀AB'], []],
  ['\\cA', '', ['\u0001'], ['cA']],
  ['\\Qa.b*\\E+', '', ['a.b**'], ['axb*']],
  ['[\\Q]-a\\E]', '', [']', '-', 'a'], ['b']],
  ['[[:alpha:]_]+', '', ['a_'], ['1']],
  ['^[[:^alpha:]]$', '', ['1', 'é'], ['a']],
  ['^[^[:digit:][:punct:]]$', '', ['a'], ['1', '.']],
  ['^[\\w-.]+$', '', ['a-b.c'], ['a,b']],
  ['^[\\w-]+$', '', ['a-b'], ['a.b']],
  ['^[]a]$', '', [']', 'a'], ['b']],
  ['^[[a]$', '', ['[', 'a'], []],
  ['x{,3}', '', ['x{,3}'], ['x']],
  ['a{x}]', '', ['a{x}]'], []],
  ['\\-\\_\\/\\@\\ ', '', ['-_/@ '], []],
  ['\\pL\\p{Lu}\\P{L}', '', ['éÉ1'], ['é1É']],
  ['\\p{Greek}', '', ['α'], ['a']],
  ['^\\p{^L}$', '', ['1'], ['a']],
  ['(?P<q>[\'"]).(?P=q)', '', ['"a"'], ['"a\'']],
  ["(?'q'a)\\k{q}\\k<q>\\g{q}", '', ['aaaa'], ['aaa']],
  ['(a)\\1+\\g1\\g{1}', '', ['aaaa'], ['aaa']],
  ['a(?#a comment)b', '', ['ab'], []],
  ['(?i)straße', '', ['STRAßE'], ['STRASSE']],
  ['(?i)a(?-i)bc', '', ['abc', 'Abc'], ['aBc', 'ABC']],
  ['a(?i)b', '', ['ab', 'aB'], ['Ab']],
  ['a(?i:b)c', '', ['abc', 'aBc'], ['abC', 'Abc']],
  ['a(?-i:b)c', 'i', ['abc', 'AbC'], ['aBc']],
  ['^(a(?i)b|c)d$', '', ['abd', 'aBd', 'cd', 'Cd'], ['Abd', 'cD']],
  ['^(?i:[a-c]x)$', '', ['Bx', 'bX'], ['dx']],
  ['^(?i:[^a])z$', '', ['bz'], ['az', 'Az', 'bZ']],
  ['^(?i:é\\x{e9}\\Qq.\\E)z$', '', ['éÉq.z', 'ÉéQ.z'], ['éÉq.Z', 'éÉqqz']],
  ['^(?i:k)x$', '', ['Kx', '\u212ax'], ['kX']],
  ['^(?i:i)x$', '', ['Ix'], ['\u0131x', '\u0130x']],
  ['(?<name>a)(?i:b)\\k<name>', '', ['aba', 'aBa'], ['abA']],
  ['^(?i)(?:a)(?=b)(?-i)b$', '', ['ab', 'Ab'], ['aB']],
  ['^a(?s:.)b.$', '', ['a\nbx'], ['axb\n']],
  ['^a(?s).(?-s).', '', ['a\nx'], ['ax\n']],
  ['(?x: a b )c d', '', ['abc d'], ['abcd']],
  ['(?m:^b$)\\n^', '', [], ['a\nb\nc']],
  [' a # b\n c', 'x', ['ac'], ['a c']],
  ['(?x) a\\ b', '', ['a b'], ['ab']],
  ['(?<=a)b(?!c)', '', ['ab'], ['b', 'abc']],
]

t.test('patterns match the texts that PCRE matches', (t) => {
  for (const [pattern, options, matching, others] of patterns) {
    const expression = compilePattern(pattern, options)
    for (const text of matching) t.ok(expression.test(text), `/${pattern}/${options} matches ${encodeURI(text)}`)
    for (const text of others)
      t.notOk(expression.test(text), `/${pattern}/${options} does not match ${encodeURI(text)}`)
  }
  t.end()
})

t.test('D103: patterns that JavaScript cannot express or that PCRE refuses are refused', (t) => {
  const beyond = [
    'a\\Kb',
    '\\Ga',
    '\\X',
    '\\C',
    '(?>a)b',
    'a++',
    'a{1,2}+',
    'a(?R)?',
    '(?1)',
    '(?&n)',
    '(?(1)a|b)',
    '(?|a|b)',
    '(*UCP)a',
    '\\g{-1}',
    '(a)(?i:\\1b)',
    '(?J)a',
    '(?i-i',
  ]
  const wrong = [
    '(',
    'a)',
    '[a',
    '*',
    '\\',
    '\\y',
    '\\i',
    '[b-a]',
    '(?<n>a)(?<n>b)',
    '\\1',
    '\\p{Nothing}',
    '[[:letters:]]',
    '\\x{110000}',
    '[\\R]',
  ]
  for (const pattern of [...beyond, ...wrong])
    t.equal(
      codeOf(() => compilePattern(pattern, '')),
      51091,
      pattern,
    )
  t.ok(compilePattern('^(a)?b\\1$', '').test('b'), 'a group that took no part')
  t.end()
})
