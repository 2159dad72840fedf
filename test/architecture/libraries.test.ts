import t from 'tap'
import { readRepository, Repository } from './model/repository.js'
import { findForeignLibraries, findMissingLibraries } from './rules/libraries.js'
import { expectNoFindings, messagesOf } from './support.js'

const foreign = (path: string, source: string): string[] =>
  messagesOf(findForeignLibraries(new Repository({ [path]: source })))

t.test('canary: libraries that are not on the list, or not used as it allows', (t) => {
  t.match(foreign('packages/query/src/a.ts', "import { Query } from 'mingo'"), [
    "'mingo' is not on the list of libraries of query",
  ])
  t.match(foreign('packages/wire/src/a.ts', "import { Long } from 'bson'"), [
    "'bson' is not on the list of libraries of wire",
  ])
  t.match(foreign('packages/actor/src/a.ts', "import { nanoid } from 'nanoid'"), [
    "of 'nanoid' only customRandom may be imported, not nanoid",
  ])
  t.match(foreign('packages/actor/src/a.ts', "import * as ids from 'nanoid'"), [
    "of 'nanoid' only customRandom may be imported, not everything",
  ])
  t.match(
    foreign('packages/shard/src/a.ts', "import PQueue from 'p-queue'\nnew PQueue({ concurrency: f(1), timeout: 5 })"),
    ["the option timeout of 'p-queue' arms a real timer"],
  )
  t.end()
})

t.test('canary: imports that the list allows are fine', (t) => {
  t.strictSame(foreign('packages/actor/src/a.ts', "import { customRandom } from 'nanoid'"), [])
  t.strictSame(
    foreign(
      'packages/shard/src/a.ts',
      "import PQueue from 'p-queue'\nnew PQueue({ concurrency: 1 })\nconst timeout = 1",
    ),
    [],
  )
  t.strictSame(
    foreign('packages/runtime/src/a.ts', "import { Worker } from 'node:worker_threads'\nawait import('snappy')"),
    [],
  )
  t.strictSame(foreign('packages/query/test/a.test.ts', "import { Query } from 'mingo'"), [])
  t.end()
})

t.test('shipped source imports only what the list allows', (t) => {
  expectNoFindings(t, findForeignLibraries(readRepository()), 'every library is on the list')
  t.end()
})

t.test('canary: required libraries that shipped source does not call', (t) => {
  const files = {
    'packages/actor/src/a.ts': [
      "import { Packr } from 'msgpackr'",
      "import { customRandom } from 'nanoid'",
      '// new Packr(), customRandom()',
      'const packr = new Packr()',
      'export const pack = (value: unknown) => packr.pack(value)',
      'export function unusedId() { return customRandom() }',
    ].join('\n'),
    'packages/actor/src/b.ts': "import { EventEmitter } from 'eventemitter3'\nexport type Emitter = EventEmitter",
    'packages/actor/test/a.test.ts': "import PQueue from 'p-queue'\nnew PQueue()",
    'packages/scenario/package.json': JSON.stringify({
      name: '@shardlab/scenario',
      dependencies: { piscina: '^5.0.0' },
    }),
  }
  const missing = (more: Record<string, string> = {}): string[] =>
    messagesOf(findMissingLibraries(new Repository({ ...files, ...more })))
  const message = (name: string): string => `no shipped source that is used calls '${name}'`
  t.strictSame(missing(), ['nanoid', 'eventemitter3', 'p-queue', 'piscina'].map(message))
  const users = {
    'packages/actor/src/c.ts': "import { unusedId } from './a.js'",
    'packages/actor/src/b.ts':
      "import { EventEmitter } from 'eventemitter3'\nclass Own extends EventEmitter {}\nnew Own()",
    'packages/shard/src/a.ts': "import PQueue from 'p-queue'\nawait new PQueue().add(f)",
    'packages/scenario/src/a.ts': "import { Piscina } from 'piscina'\nexport {}\nif (true) { new Piscina() }",
  }
  t.strictSame(missing(users), [])
  t.end()
})

t.test('shipped source calls the required libraries', (t) => {
  expectNoFindings(t, findMissingLibraries(readRepository()), 'every library does work')
  t.end()
})
