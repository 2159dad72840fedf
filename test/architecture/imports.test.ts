import t from 'tap'
import { readRepository, Repository } from './model/repository.js'
import { findUndeclaredDependencies } from './rules/declared-dependencies.js'
import { findImportsThatClimb } from './rules/import-direction.js'
import { expectNoFindings, messagesOf } from './support.js'

const climbing = (files: Record<string, string>): string[] => messagesOf(findImportsThatClimb(new Repository(files)))

t.test('canary: imports that climb', (t) => {
  t.match(climbing({ 'packages/query/src/a.ts': "import type { Engine } from '@shardlab/storage'" }), [
    "'@shardlab/storage' (floor 3) is above query (floor 1)",
  ])
  t.match(climbing({ 'packages/shard/src/a.ts': "export * from '@shardlab/mongos'" }), [
    "'@shardlab/mongos' is on the same floor as shard",
  ])
  t.match(climbing({ 'packages/wire/src/a.ts': "type A = import('@shardlab/sharding').A" }), [
    "'@shardlab/sharding' is on the same floor as wire",
  ])
  t.match(climbing({ 'packages/wire/src/a.ts': "import { a } from '@shardlab/bson/dist/src/a.js'" }), [
    'is a deep import',
  ])
  const server = "import { a } from '@shardlab/wire/server'"
  t.match(climbing({ 'packages/node/src/a.ts': server }), ['is a deep import'])
  const entries = JSON.stringify({ name: '@shardlab/wire', exports: { '.': '', './server': '' } })
  t.same(climbing({ 'packages/node/src/a.ts': server, 'packages/wire/package.json': entries }), [])
  t.match(climbing({ 'packages/node/src/a.ts': "import { a } from '@shardlab/actor/testing'" }), ['is for tests only'])
  t.match(climbing({ 'packages/bson/test/a.ts': "import { a } from '@shardlab/actor/testing'" }), ['is above bson'])
  t.match(climbing({ 'packages/wire/src/a.ts': "import { a } from '@shardlab/wire'" }), [
    "'@shardlab/wire' is this package itself",
  ])
  t.match(climbing({ 'packages/wire/src/a.ts': "import { a } from '../../bson/src/a.js'" }), [
    'leaves the package by a relative path',
  ])
  t.match(climbing({ 'packages/cluster/src/a.ts': "new URL('../../shard/dist/src/a.js', import.meta.url)" }), [
    'leaves the package by a relative path',
  ])
  t.match(climbing({ 'packages/wire/src/a.ts': "import { a } from '../test/a.js'" }), [
    'leads from src to files that are not shipped',
  ])
  t.match(climbing({ 'packages/wire/src/a.ts': "import { a } from './b'" }), ["'./b' must end in .js"])
  t.match(climbing({ 'packages/load/src/a.ts': "import { a } from '@shardlab/wire'" }), [
    'load reaches a cluster through the official driver only',
  ])
  t.match(climbing({ 'packages/unique/src/a.ts': "import { a } from '@shardlab/bson'" }), [
    'unique reaches a cluster through the official driver only',
  ])
  t.match(climbing({ 'packages/mongos/src/a.ts': "import { a } from '@shardlab/node'" }), [
    "mongos must not import '@shardlab/node'",
  ])
  t.match(climbing({ 'packages/attic/src/a.ts': '' }), ['package attic has no floor'])
  t.match(climbing({ 'test/live/a.ts': "import { a } from '../../packages/shard/src/a.js'" }), [
    'leaves the package by a relative path',
  ])
  t.end()
})

t.test('canary: imports that go downward are fine', (t) => {
  const files = {
    'packages/shard/src/commands/a.ts':
      "import { a } from '@shardlab/node'\nimport { b } from '../b.js'\n// import '@shardlab/mongos'",
    'packages/shard/test/a.test.ts': "import { a } from '../src/commands/a.js'\nimport { b } from '@shardlab/shard'",
    'packages/shard/test/b.test.ts': "import { FakeContext } from '@shardlab/actor/testing'",
    'packages/mongos/test/a.test.ts': "import { a } from '@shardlab/node'",
    'packages/load/src/a.ts': "import { a } from '@shardlab/bson'\nimport { MongoClient } from 'mongodb'",
    'test/live/a.ts': "import { ShardedCluster } from '@shardlab/cluster'",
  }
  t.strictSame(climbing(files), [])
  t.end()
})

t.test('imports go downward, through package entries', (t) => {
  expectNoFindings(t, findImportsThatClimb(readRepository()), 'imports go downward')
  t.end()
})

const undeclared = (files: Record<string, string>): string[] =>
  messagesOf(findUndeclaredDependencies(new Repository(files)))

t.test('canary: package.json and tsconfig.json that disagree with the imports', (t) => {
  const files = {
    'packages/wire/package.json': JSON.stringify({
      name: '@shardlab/wire',
      dependencies: { '@shardlab/query': '0.1.0', snappy: '^7.0.0' },
    }),
    'packages/wire/tsconfig.json': JSON.stringify({ references: [{ path: '../bson' }] }),
    'packages/wire/src/a.ts': "import { a } from '@shardlab/bson'",
    'packages/wire/test/a.test.ts': "import t from 'tap'",
  }
  t.strictSame(undeclared(files).sort(), [
    "'@shardlab/bson' is not among the dependencies of packages/wire/package.json",
    "'tap' is not among the dependencies or devDependencies of packages/wire/package.json",
    "dependencies lists '@shardlab/query', which nothing there imports",
    "dependencies lists 'snappy', which nothing there imports",
    "references lack 'query', which package.json names",
    "references name 'bson', which package.json lacks",
  ])
  t.end()
})

t.test('canary: declarations that agree are fine', (t) => {
  const files = {
    'package.json': JSON.stringify({ devDependencies: { tap: '^21.0.0' } }),
    'packages/wire/package.json': JSON.stringify({
      name: '@shardlab/wire',
      dependencies: { '@shardlab/bson': '0.1.0' },
      devDependencies: { mingo: '^7.0.0' },
    }),
    'packages/wire/tsconfig.json': JSON.stringify({ references: [{ path: '../bson' }] }),
    'packages/wire/src/a.ts': "import { a } from '@shardlab/bson'",
    'packages/wire/test/a.test.ts':
      "import t from 'tap'\nimport mingo from 'mingo'\nimport { readFile } from 'node:fs/promises'",
  }
  t.strictSame(undeclared(files), [])
  t.end()
})

t.test('package.json and tsconfig.json agree with the imports', (t) => {
  expectNoFindings(t, findUndeclaredDependencies(readRepository()), 'declarations agree with the imports')
  t.end()
})
