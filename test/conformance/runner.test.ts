/**
 * The runner itself, on test files of its own: passing tests, failures with their messages, skipped
 * tests with their reasons.
 */
import t from 'tap'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ShardedCluster } from 'shardlab'
import { run } from '../support/up.js'
import { fileURLToPath } from 'node:url'
import { runConformance } from './runner.js'

const main = fileURLToPath(new URL('main.js', import.meta.url))

const things = {
  createEntities: [
    { client: { id: 'client', observeEvents: ['commandStartedEvent'] } },
    { database: { id: 'db', client: 'client', databaseName: 'runner' } },
    { collection: { id: 'things', database: 'db', collectionName: 'things' } },
    { session: { id: 'session', client: 'client' } },
  ],
  initialData: [{ databaseName: 'runner', collectionName: 'things', documents: [{ _id: 1 }, { _id: 2 }] }],
}

const find = (expectResult: unknown) => ({
  object: 'things',
  name: 'find',
  arguments: { filter: {}, sort: { _id: 1 } },
  expectResult,
})

const basics = {
  description: 'basics',
  schemaVersion: '1.0',
  ...things,
  tests: [
    {
      description: 'passes',
      operations: [
        find([{ _id: 1 }, { _id: 2 }]),
        { object: 'things', name: 'insertOne', arguments: { document: { _id: 3 }, session: 'session' } },
        {
          object: 'things',
          name: 'insertOne',
          arguments: { document: { _id: 3 } },
          expectError: { isClientError: false, errorCode: 11000 },
        },
      ],
      expectEvents: [
        {
          client: 'client',
          events: [
            { commandStartedEvent: { command: { find: 'things', lsid: { $$exists: true } } } },
            { commandStartedEvent: { command: { insert: 'things', lsid: { $$sessionLsid: 'session' } } } },
            { commandStartedEvent: { commandName: 'insert', databaseName: 'runner' } },
          ],
        },
      ],
      outcome: [{ databaseName: 'runner', collectionName: 'things', documents: [{ _id: 1 }, { _id: 2 }, { _id: 3 }] }],
    },
    { description: 'wrong result', operations: [find([{ _id: 1 }])] },
    {
      description: 'missing error',
      operations: [{ object: 'things', name: 'find', arguments: { filter: {} }, expectError: { isError: true } }],
    },
    { description: 'wrong event', operations: [find([{}, {}])], expectEvents: [{ client: 'client', events: [] }] },
    {
      description: 'wrong outcome',
      operations: [],
      outcome: [{ databaseName: 'runner', collectionName: 'things', documents: [] }],
    },
    { description: 'unknown operation', operations: [{ object: 'things', name: 'juggle', arguments: {} }] },
    { description: 'unknown assertion', operations: [{ object: 'testRunner', name: 'assertJuggled', arguments: {} }] },
    {
      description: 'a loop, a thread and a saved cursor',
      operations: [
        { object: 'testRunner', name: 'createEntities', arguments: { entities: [{ thread: { id: 'thread' } }] } },
        {
          object: 'testRunner',
          name: 'runOnThread',
          arguments: {
            thread: 'thread',
            operation: { object: 'things', name: 'insertOne', arguments: { document: { _id: 9 } } },
          },
        },
        { object: 'testRunner', name: 'waitForThread', arguments: { thread: 'thread' } },
        { object: 'things', name: 'createFindCursor', arguments: { filter: { _id: 9 } }, saveResultAsEntity: 'cursor' },
        { object: 'cursor', name: 'iterateUntilDocumentOrError', expectResult: { _id: 9 } },
        { object: 'cursor', name: 'close' },
        {
          object: 'testRunner',
          name: 'loop',
          arguments: {
            operations: [find([{}, {}, {}])],
            numIterations: 3,
            storeIterationsAsEntity: 'iterations',
            storeErrorsAsEntity: 'errors',
          },
        },
        {
          object: 'testRunner',
          name: 'assertEventCount',
          arguments: { client: 'client', event: { commandStartedEvent: { commandName: 'find' } }, count: 4 },
        },
      ],
    },
    { description: 'future', runOnRequirements: [{ minServerVersion: '99.0' }], operations: [] },
    { description: 'replica sets only', runOnRequirements: [{ topologies: ['replicaset'] }], operations: [] },
    {
      description: 'either',
      runOnRequirements: [{ topologies: ['replicaset'] }, { topologies: ['sharded'] }],
      operations: [],
    },
    { description: 'with users', runOnRequirements: [{ auth: true }], operations: [] },
    { description: 'not now', skipReason: 'because', operations: [] },
  ],
}

t.test('an exception applies where its reason does, and one that passes is a failure', async (t) => {
  const dir = t.testdir()
  const path = 'crud/unified/find-allowdiskuse-clientError.json'
  mkdirSync(join(dir, 'crud', 'unified'), { recursive: true })
  const tests = [
    {
      description: 'Find fails when allowDiskUse true is specified against pre 3.2 server',
      runOnRequirements: [{ minServerVersion: '4.0', maxServerVersion: '4.2' }],
    },
    { description: 'of other servers', runOnRequirements: [{ minServerVersion: '4.0.99', maxServerVersion: '4.2' }] },
    { description: 'of replica sets', runOnRequirements: [{ topologies: ['replicaset'] }] },
    {
      description: 'of replica sets, or later servers',
      runOnRequirements: [{ topologies: ['replicaset'] }, { minServerVersion: '4.1' }],
    },
  ].map((each) => ({ ...each, operations: [] }))
  writeFileSync(join(dir, path), JSON.stringify({ ...basics, tests }))
  await using old = await ShardedCluster.start({ shards: 1, emulate: '4.0', runtime: 'inline' })
  t.same((await runConformance({ uri: old.uri, dir })).files[path], { wire: 1, version: 2, topology: 1 })
  const { files, failures } = await runConformance({ uri: old.uri, dir, checkExceptions: true })
  t.same(files[path], { failed: 1, version: 2, topology: 1 }, 'hello announces 9, and 4.0.28 is the version')
  t.match(failures, [
    {
      test: /allowDiskUse true/,
      message: /^passes, but is listed as an exception because drivers refuse allowDiskUse/,
    },
  ])
  await using newer = await ShardedCluster.start({ shards: 1, emulate: '4.4', runtime: 'inline' })
  const report = await runConformance({ uri: newer.uri, dir, checkExceptions: true })
  t.same(
    report.files[path],
    { version: 2, topology: 1, passed: 1 },
    'no exception where wire version 9 is the real one',
  )
})

t.test('the runner counts results and gives reasons for skipped and failed tests', async (t) => {
  const dir = t.testdir()
  mkdirSync(join(dir, 'own', 'deeper'), { recursive: true })
  writeFileSync(join(dir, 'own', 'deeper', 'basics.json'), JSON.stringify(basics))
  writeFileSync(join(dir, 'old-format.json'), JSON.stringify({ tests: [{ description: 'from before' }] }))
  await using cluster = await ShardedCluster.start({ shards: 1, mongos: 2, runtime: 'inline' })
  const report = await runConformance({ uri: cluster.uri, dir })
  t.same(report.totals, { passed: 3, failed: 6, skipped: 4 })
  t.same(Object.keys(report.folders), ['own'])
  t.same(report.folders['own']!.reasons, {
    'is for servers from 99.0': 1,
    'is for topology replicaset': 1,
    'needs users': 1,
    'is skipped by the specification itself': 1,
  })
  const messages = Object.fromEntries(report.failures.map(({ test, message }) => [test, message]))
  t.match(messages, {
    'wrong result': /^operation 0, find: result: expected \[\{"_id":1\}\], got \[\{"_id":1\},\{"_id":2\}\]$/,
    'missing error': /^operation 0, find: the operation: expected /,
    'wrong event': /^events: expected \[\], got \["commandStartedEvent find"\]$/,
    'wrong outcome': /^outcome of things: /,
    'unknown operation': /does not know the operation juggle of things$/,
    'unknown assertion': /does not know its operation assertJuggled$/,
  })

  await t.test('the command prints a JSON report and exits with 1 after a failure', async (t) => {
    const all = await run(process.execPath, [main, '--uri', cluster.uri, '--dir', dir, '--json'])
    t.equal(all.code, 1)
    t.same(JSON.parse(all.stdout), JSON.parse(JSON.stringify(report)))
    const some = await run(process.execPath, [
      main,
      '--uri',
      cluster.uri,
      '--dir',
      dir,
      '--only',
      'basics.json > passes',
    ])
    t.equal(some.code, 0)
    t.match(some.stdout, /^all +1 passed +0 failed +0 skipped$/m)
    for (const [args, expected] of [
      [['--wings'], /--wings.*--help/],
      [['--dir', join(dir, 'nowhere')], /there is no folder .*nowhere/],
      [['--dir', dir, '--uri', cluster.uri, '--only', 'nothing like it'], /holds no test that matches/],
      [['--dir', dir, '--uri', 'http://x/'], /is no mongodb:\/\/ URI/],
      [['--emulate', '9.9'], /9\.9 is unknown; the versions: 2\.6, 4\.0/],
      [['--emulate', '4.0', '--all-versions'], /exclude each other/],
      [['--all-versions', '--write', '--only', 'x'], /--write records complete runs/],
    ] as const) {
      const { code, stdout, stderr } = await run(process.execPath, [main, ...args])
      t.equal(code, 2, args.join(' '))
      t.match(stderr, expected)
      t.equal(stdout, '')
    }
    t.match((await run(process.execPath, [main, '--help'])).stdout, /Examples:/)
  })
})
