import { Decimal128, encode, Long, type Document } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest, shape } from './support/harness.js'

const admin = { db: 'admin' }

t.test('getParameter returns parameters by name, all, with details, or by when they can be set', async (t) => {
  const node = new NodeUnderTest()
  t.same(await node.ok({ getParameter: 1, ttlMonitorEnabled: 1, quiet: 1 }, admin), {
    quiet: false,
    ttlMonitorEnabled: true,
    ok: 1,
  })
  t.equal(
    shape(
      await node.raw({ getParameter: 1, cursorTimeoutMillis: 1, ttlMonitorSleepSecs: 1, enableTestCommands: 1 }, admin),
    ),
    'cursorTimeoutMillis:long enableTestCommands:bool ttlMonitorSleepSecs:int ok:double',
  )
  const all = await node.ok({ getParameter: '*' }, admin)
  t.match(all, {
    enableTestCommands: true,
    requireApiVersion: false,
    authenticationMechanisms: Array,
    featureCompatibilityVersion: Object,
  })
  t.same(await node.ok({ getParameter: { allParameters: true } }, admin), all)
  t.same(await node.ok({ getParameter: { showDetails: true }, logLevel: 1 }, admin), {
    logLevel: { value: 0, settableAtRuntime: true, settableAtStartup: true },
    ok: 1,
  })
  t.notOk('maxSessions' in (await node.ok({ getParameter: { allParameters: true, setAt: 'runtime' } }, admin)))
  t.match(await node.run({ getParameter: { setAt: 'never' }, quiet: 1 }, admin), { code: 2 })
  t.match(await node.run({ getParameter: { nonsense: 1 }, quiet: 1 }, admin), { code: 40415 })
  t.match(await node.run({ getParameter: 1, nonsense: 1 }, admin), {
    code: 72,
    codeName: 'InvalidOptions',
    errmsg: 'no option found to get',
  })
  t.match(await node.run({ getParameter: 1, quiet: 1 }), { code: 13 })
})

t.test('setParameter checks types and bounds, and refuses parameters that cannot be set', async (t) => {
  const node = new NodeUnderTest()
  const set = (parameters: Document) => node.run({ setParameter: 1, ...parameters }, admin)
  t.same(await set({ ttlMonitorSleepSecs: 5 }), { was: 60, ok: 1 })
  t.same(await set({ ttlMonitorSleepSecs: 7.9 }), { was: 5, ok: 1 }, 'rounded towards zero')
  t.same(await set({ ttlMonitorSleepSecs: Decimal128.fromString('8') }), { was: 7, ok: 1 })
  t.same(await set({ quiet: true, comment: 'generic arguments are no parameters' }), { was: false, ok: 1 })
  t.same(await set({ quiet: 0, logLevel: 1 }), { was: 0, ok: 1 }, 'was is the value of the first by name')
  t.equal(node.node.parameters.number('ttlMonitorSleepSecs'), 8)
  t.match(await set({ ttlMonitorSleepSecs: 0 }), {
    code: 2,
    errmsg: 'Invalid value for parameter ttlMonitorSleepSecs: 0 is not greater than or equal to 1',
  })
  t.match(await set({ ttlMonitorSleepSecs: 'soon' }), { code: 2, errmsg: 'Unable to coerce value to integral type' })
  t.match(await set({ ttlMonitorSleepSecs: Number.NaN }), {
    code: 2,
    errmsg: 'Unable to coerce NaN/Inf to integral type',
  })
  t.match(await set({ ttlMonitorSleepSecs: Long.fromNumber(2 ** 40) }), {
    code: 2,
    errmsg: 'Out of bounds coercing to integral value',
  })
  t.match(await set({ quiet: 'no' }), { code: 2, errmsg: 'Unable to coerce value to correct type' })
  t.match(await set({ maxSessions: 1 }), { code: 20, errmsg: 'not allowed to change [maxSessions] at runtime' })
  t.match(await set({ requireApiVersion: true }), { code: 20 })
  t.match(await set({ nonsense: 1 }), {
    code: 72,
    errmsg: 'attempted to set unrecognized parameter [nonsense], use help:true to see options ',
  })
  t.match(await set({}), { code: 72, errmsg: 'no option found to set, use help:true to see options ' })
})

t.test('cursorTimeoutMillis closes idle cursors', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{}, {}, {}] })
  await node.ok({ find: 'c', batchSize: 1 })
  await node.ok({ setParameter: 1, cursorTimeoutMillis: 1000 }, admin)
  node.context.nowMs += 2000
  await node.node.wake('housekeeping')
  t.equal(node.node.cursors.size, 0)
  t.match(await node.ok({ serverStatus: 1 }), { metrics: { cursor: { timedOut: Long.ONE } } })
})

t.test('D713 the verbosity of components is set; that of commands logs every command', async (t) => {
  const node = new NodeUnderTest()
  const { logComponentVerbosity } = await node.ok({ getParameter: 1, logComponentVerbosity: 1 }, admin)
  t.match(logComponentVerbosity, {
    verbosity: 0,
    command: { verbosity: -1 },
    storage: { verbosity: -1, journal: { verbosity: -1 } },
  })
  await node.ok({ setParameter: 1, logLevel: 1 }, admin)
  t.match(await node.ok({ getParameter: 1, logComponentVerbosity: 1 }, admin), {
    logComponentVerbosity: { verbosity: 1 },
  })
  const set = (logComponentVerbosity: unknown) => node.run({ setParameter: 1, logComponentVerbosity }, admin)
  t.match(await set({ verbosity: 0, storage: { journal: { verbosity: 2 } }, command: 1 }), {
    ok: 1,
    was: { verbosity: 1, command: { verbosity: -1 }, storage: { verbosity: -1, journal: { verbosity: -1 } } },
  })
  t.match(await node.ok({ getParameter: 1, logComponentVerbosity: 1, logLevel: 1 }, admin), {
    logComponentVerbosity: { verbosity: 0, command: { verbosity: 1 }, storage: { journal: { verbosity: 2 } } },
    logLevel: 0,
  })
  const logged = async () => {
    const { log } = await node.ok({ getLog: 'global' }, admin)
    return (log as string[]).filter((line) => line.includes('"ping":1')).length
  }
  await node.ok({ ping: 1 })
  t.equal(await logged(), 1)
  t.match(await set({ command: { verbosity: -1 } }), { ok: 1 })
  await node.ok({ ping: 1 })
  t.equal(await logged(), 1, 'inherits 0 from the root')
  t.match(await set({ verbosity: 'x' }), {
    code: 2,
    errmsg: 'Expected default.verbosity to be a number, but found string',
  })
  t.match(await set({ command: 3, storage: { nonsense: 1 } }), {
    code: 2,
    errmsg: 'Invalid component name storage.nonsense',
  })
  t.match(await node.ok({ getParameter: 1, logComponentVerbosity: 1 }, admin), {
    logComponentVerbosity: { command: { verbosity: -1 } },
  })
  t.match(await set(1), { code: 14, errmsg: 'log component verbosity is not a BSON object: 1' })
})

t.test('quiet stops the log of connections', async (t) => {
  const node = new NodeUnderTest()
  const connections = async () => {
    const { log } = await node.ok({ getLog: 'global' }, admin)
    return (log as string[]).filter((line) => line.includes('Connection accepted')).length
  }
  const connect = (connectionId: number) =>
    node.node.clientCommand({
      connectionId,
      body: encode({ ping: 1, $db: 'test' }),
      sequences: [],
      legacy: false,
      remote: '10.0.0.1:1',
    })
  await connect(1)
  await node.ok({ setParameter: 1, quiet: true }, admin)
  await connect(2)
  t.equal(await connections(), 1)
})

t.test('notablescan refuses queries without an index', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  await node.ok({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
  await node.ok({ insert: 'c', documents: [{ _id: 1, a: 1, b: 1 }] })
  await node.ok({ setParameter: 1, notablescan: true }, admin)
  const refused = {
    code: 291,
    codeName: 'NoQueryExecutionPlans',
    errmsg: /caused by :: No indexed plans available, and running with 'notablescan'$/,
  }
  const filter = { b: 1 }
  t.match(await node.run({ find: 'c', filter }), refused)
  t.match(await node.run({ count: 'c', query: filter }), refused)
  t.match(await node.run({ distinct: 'c', key: 'a', query: filter }), refused)
  t.match(await node.run({ aggregate: 'c', pipeline: [{ $match: filter }], cursor: {} }), refused)
  t.match(await node.run({ update: 'c', updates: [{ q: filter, u: { $set: { x: 1 } } }] }), {
    writeErrors: [{ ...refused, codeName: undefined }],
  })
  t.match(await node.run({ find: 'c', filter: { a: 1 }, hint: { $natural: 1 } }), {
    code: 291,
    errmsg: /hint \$natural is not allowed, because 'notablescan' is enabled$/,
  })
  for (const command of [
    { find: 'c' },
    { find: 'c', filter: { a: 1, b: 1 } },
    { find: 'c', filter: { _id: 1 } },
    { find: 'none', filter },
  ])
    await node.ok(command)
  await node.ok({ find: 'system.version', filter }, admin)
  await node.ok({ setParameter: 1, notablescan: false }, admin)
  await node.ok({ find: 'c', filter })
})

t.test(
  'D724 7.0 and 8.0 have the parameters of the rate limiter for new connections, which cannot be enabled',
  async (t) => {
    const prefix = 'ingressConnectionEstablishment'
    const names = ['BurstCapacitySecs', 'MaxQueueDepth', 'RateLimiterEnabled', 'RatePerSec'].map(
      (name) => prefix + name,
    )
    const asked = Object.fromEntries(names.map((name) => [name, 1]))
    for (const version of ['7.0', '8.0'] as const) {
      const node = new NodeUnderTest({ version })
      const { ok: _, ...values } = await node.ok({ getParameter: 1, ...asked }, admin)
      t.same(values, Object.fromEntries(names.map((name, i) => [name, [Number.MAX_VALUE, 0, false, 0x7fff_ffff][i]])))
      const set = (name: string, value: unknown) => node.run({ setParameter: 1, [prefix + name]: value }, admin)
      t.match(await set('RatePerSec', 20), { was: 0x7fff_ffff, ok: 1 })
      t.match(await set('RatePerSec', 0), { code: 2 })
      t.match(await set('RateLimiterEnabled', false), { ok: 1 })
      t.match(await set('RateLimiterEnabled', true), { code: 115 })
    }
    t.match(await new NodeUnderTest({ version: '6.0' }).run({ getParameter: 1, ...asked }, admin), { code: 72 })
  },
)

t.test('old versions lack the parameters that came later', async (t) => {
  const node = new NodeUnderTest({ version: '2.6' })
  t.match(await node.run({ setParameter: 1, logComponentVerbosity: { verbosity: 1 } }, admin), {
    code: 72,
    errmsg: /^attempted to set unrecognized parameter \[logComponentVerbosity\]/,
  })
  t.match(await node.run({ getParameter: 1, featureCompatibilityVersion: 1 }, admin), { code: 72 })
  t.same(await node.run({ setParameter: 1, logLevel: 1 }, admin), { was: 0, ok: 1 })
  for (const [version, found] of [
    ['4.4', false],
    ['5.0', true],
  ] as const) {
    const names = Object.keys(await new NodeUnderTest({ version }).ok({ getParameter: '*' }, admin))
    for (const name of ['acceptApiVersion2', 'requireApiVersion']) t.equal(names.includes(name), found, version)
    t.ok(names.includes('logComponentVerbosity'))
  }
})

t.test('requireApiVersion of a shard stays false', async (t) => {
  const node = new NodeUnderTest()
  t.match(await node.run({ setParameter: 1, requireApiVersion: true }, admin), {
    code: 20,
    errmsg: 'Cannot set parameter requireApiVersion=true on a shard or config server',
  })
  t.match(await node.run({ setParameter: 1, requireApiVersion: false }, admin), { was: false, ok: 1 })
})
