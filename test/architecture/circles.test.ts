import t from 'tap'
import { readRepository, Repository } from './model/repository.js'
import { findImportCircles } from './rules/import-circles.js'
import { expectNoFindings, messagesOf } from './support.js'

const file = (name: string): string => `packages/wire/src/${name}.ts`

const circles = (files: Record<string, string>): string[] => messagesOf(findImportCircles(new Repository(files)))

t.test('canary: import circles, type imports included', (t) => {
  const three = {
    [file('a')]: "import type { B } from './b.js'",
    [file('b')]: "export * from './c.js'",
    [file('c')]: "type A = import('./a.js').A",
    [file('d')]: "import { a } from './a.js'",
  }
  t.match(circles(three), [/^is in an import circle, type imports included: src\/a\.ts, src\/b\.ts, src\/c\.ts\. Move/])
  t.equal(circles(three).length, 1, 'one finding for each circle')
  t.match(circles({ [file('a')]: "import { a } from './a.js'" }), [/: src\/a\.ts\. Move/])
  t.match(circles({ 'test/live/a.ts': "import './b.js'", 'test/live/b.ts': "import './a.js'" }), [/: live\/a\.ts/])
  const many = Object.fromEntries([...'abcdefgh'].map((name, i) => [file(name), `import './${'bcdefgha'[i]}.js'`]))
  t.match(circles(many), [/: src\/a\.ts, .* src\/f\.ts, 2 more\. Move/])
  t.end()
})

t.test('canary: files that share a third one are fine', (t) => {
  const files = {
    [file('a')]: "import { c } from './c.js'\nimport { b } from './b.js'",
    [file('b')]: "import { c } from './c.js'\n// import { a } from './a.js'",
    [file('c')]: "const a = new URL('./a.js', import.meta.url)",
  }
  t.strictSame(circles(files), [])
  t.end()
})

t.test('no file imports itself by way of others', (t) => {
  expectNoFindings(t, findImportCircles(readRepository()), 'no import circle')
  t.end()
})
