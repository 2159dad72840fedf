import t from 'tap'
import { readRepository, Repository } from './model/repository.js'
import { findBannedNames } from './rules/banned-names.js'
import { expectNoFindings, messagesOf } from './support.js'

const banned = (source: string, folder = 'mongos'): string[] =>
  messagesOf(findBannedNames(new Repository({ [`packages/${folder}/src/a.ts`]: source })))

t.test('canary: each banned name, with what to use instead', (t) => {
  const canaries: readonly (readonly [source: string, message: string])[] = [
    [
      "import { readFile } from 'node:fs/promises'",
      "'node:fs/promises' is banned in the deterministic floors: no Node.js module",
    ],
    ["import { createHash } from 'crypto'", "'crypto' is banned"],
    ['const a = Date.now()', 'Date.now is banned in the deterministic floors: use ctx.now()'],
    ['const a = globalThis.Date.now()', 'Date.now is banned'],
    ['const a = new Date()', 'new Date() without argument is banned in the deterministic floors: use ctx.now()'],
    ['const a = new Date', 'new Date() without argument is banned'],
    ['const a = Date()', 'Date() is banned'],
    [
      'setTimeout(() => a(), 1)',
      'setTimeout is banned in the deterministic floors: use ctx.setTimer(name, delayMs) or await ctx.sleep',
    ],
    ['const a = { later: setInterval }', 'setInterval is banned'],
    ['setImmediate(a)', 'setImmediate is banned'],
    ['queueMicrotask(a)', 'queueMicrotask is banned'],
    ["await fetch('a')", 'fetch is banned'],
    ['const { env } = process', 'process is banned'],
    ['if (process.env.A) a()', 'process is banned'],
    ['const a = Math.random()', 'Math.random is banned in the deterministic floors: use ctx.random'],
    ['const { random } = Math', 'Math as a value is banned'],
    ["console.log('a')", 'console is banned in the deterministic floors: use ctx.log(level, message, fields)'],
    ['const a = performance.now()', 'performance is banned in the deterministic floors: use ctx.now()'],
    ['const a = crypto.randomUUID()', 'crypto is banned in the deterministic floors: use ctx.random'],
    ['const a = AbortSignal.timeout(5)', 'AbortSignal.timeout is banned'],
    ['const a = new AbortController()', 'AbortController is banned in the deterministic floors: use a Cancellation'],
    ['const a = new ObjectId()', 'new ObjectId() without argument is banned'],
    ['const a = `${Date.now()}`', 'Date.now is banned'],
  ]
  for (const [source, message] of canaries) t.match(banned(source), [message], source)
  t.end()
})

t.test('canary: names that only look like banned ones are fine', (t) => {
  const fine = [
    '// Date.now() and new Date()',
    "const a = 'setTimeout(process.exit)'",
    'const a = new Date(ctx.now())',
    'const a = Date.UTC(2020, 0)',
    'function f(at: Date): boolean { return at instanceof Date }',
    'const a = { process: 1, console: 2 }',
    'interface A { process: string; readonly crypto?: number }',
    'this.process.a()',
    'interface A { fetch(name: string, f: () => void): Promise<void> }',
    'class A {\n  async fetch() { return 1 }\n}',
    'const a = new ObjectId(bytes)',
    'const a = Math.floor(1)',
    'const a = processId',
  ]
  for (const source of fine) t.strictSame(banned(source), [], source)
  t.strictSame(banned('setTimeout(a, 1); Date.now()', 'runtime'), [], 'above the deterministic floors')
  t.strictSame(
    messagesOf(findBannedNames(new Repository({ 'packages/mongos/test/a.test.ts': 'Date.now()' }))),
    [],
    'in tests',
  )
  t.end()
})

t.test('the floors up to the roles are deterministic', (t) => {
  expectNoFindings(t, findBannedNames(readRepository()), 'no banned name')
  t.end()
})
