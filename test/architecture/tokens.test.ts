import t from 'tap'
import { importsOf } from './model/imports.js'
import { tokenize } from './model/tokens.js'

const texts = (source: string): string[] => tokenize(source).map((token) => token.text)

t.test('comments, strings, templates and regular expressions are not code', (t) => {
  const source = [
    '// Date.now()',
    '/* Math.random()',
    '*/ const a = "Date.now()"',
    "const b = 'it\\'s'",
    'const c = `${`${d}`} and ${{ e: 1 }.e} Date.now()`',
    'const f = /[/"\'`]\\/"/g.test(g)',
    'const h = i! / j / 2',
  ].join('\n')
  const names = tokenize(source)
    .filter((token) => token.kind === 'name')
    .map((token) => token.text)
  t.strictSame(names, [
    'const',
    'a',
    'const',
    'b',
    'const',
    'c',
    'd',
    'e',
    'e',
    'const',
    'f',
    'test',
    'g',
    'const',
    'h',
    'i',
    'j',
  ])
  t.strictSame(
    tokenize(source)
      .filter((token) => token.kind === 'regex')
      .map((token) => token.text),
    ['/[/"\'`]\\/"/g'],
  )
  t.end()
})

t.test('code inside a template placeholder is code', (t) => {
  t.ok(texts('`at ${Date.now()} ms`').includes('Date'))
  t.end()
})

t.test('numbers, optional chaining and postfix assertions are told apart', (t) => {
  t.strictSame(texts('a?.b! !== 0xFFn + 1_000.5e-3'), ['a', '?.', 'b', 'postfix !', '!==', '0xFFn', '+', '1_000.5e-3'])
  t.end()
})

t.test('lines are counted through comments and templates', (t) => {
  t.strictSame(
    tokenize('/*\n*/`\n`\na').map((token) => token.line),
    [2, 4],
  )
  t.end()
})

t.test('a text that cannot be read is an error with file and line', (t) => {
  t.throws(() => tokenize("\nconst a = 'b", 'a.ts'), { message: 'a.ts:2 a string that does not end' })
  t.throws(() => tokenize('`a', 'a.ts'), { message: 'a.ts:1 a template that does not end' })
  t.end()
})

t.test('every form of import is found', (t) => {
  const source = [
    "import a, { type B, c as d } from 'one'",
    "import type { E } from 'two'",
    "import * as f from 'three'",
    "import 'four'",
    "export * from 'five'",
    "export type { G } from 'six'",
    "export { default } from 'seven'",
    "const h = await import('eight')",
    "type I = import('nine').I",
    "const j = new URL('./ten.js', import.meta.url)",
    "export const from = 'not this'",
    'import.meta.resolve',
    "export { k }\nconst l = 'from'",
  ].join('\n')
  t.strictSame(
    importsOf(tokenize(source)).map(({ specifier, form, names }) => [specifier, form, names]),
    [
      ['one', 'static', null],
      ['two', 'static', ['E']],
      ['three', 'static', null],
      ['four', 'static', null],
      ['five', 'static', null],
      ['six', 'static', ['G']],
      ['seven', 'static', ['default']],
      ['eight', 'dynamic', null],
      ['nine', 'dynamic', null],
      ['./ten.js', 'url', null],
    ],
  )
  t.end()
})
