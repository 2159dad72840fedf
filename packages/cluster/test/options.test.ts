import t from 'tap'
import { OptionError, resolveOptions, ShardedCluster, type ClusterOptions } from '../src/index.js'
import { resolveSimulatedOptions } from '../src/resolve-options.js'

t.test('every option has a default', async (t) => {
  const { seed, ...others } = resolveOptions({})
  t.ok(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31, `a drawn seed: ${seed}`)
  t.same(others, {
    topology: 'sharded',
    members: null,
    sets: {},
    setName: '',
    initiate: true,
    heartbeatIntervalMs: 250,
    electionTimeoutMs: 2000,
    shards: 3,
    standby: [],
    mongos: 1,
    port: 0,
    host: '127.0.0.1',
    announcedHost: '127.0.0.1',
    insecure: false,
    auth: false,
    clientLimits: { port: {}, cursorsMax: null },
    setParameter: {},
    tls: null,
    emulate: '7.0',
    chunkSizeBytes: 0,
    runtime: 'threads',
    nats: null,
    clock: 'real',
    autoAdvance: true,
    hosts: undefined,
    balancerRoundIntervalMs: 1000,
    findReplicaSetHostTimeoutMs: 15_000,
    periodicNoopIntervalSecs: null,
    networkTimeoutMs: 10_000,
    nativeWire: false,
    strict: false,
    autoSplit: null,
    oplogSizeBytes: null,
    diskSizeBytes: 2 * 1024 ** 3,
    dbPath: null,
  })
})

t.test('options that are given replace the defaults', async (t) => {
  const same: ClusterOptions = {
    shards: 12,
    standby: ['rs0', 'rs1'],
    mongos: 2,
    port: 27_017,
    host: '::1',
    insecure: true,
    auth: true,
    setParameter: { maxSessions: 5 },
    tls: { mode: 'requireTLS', certificateKeyFile: 'server.pem' } as const,
    emulate: '4.4',
    runtime: 'threads',
    hosts: 4,
    seed: 0,
    balancerRoundIntervalMs: 5,
    findReplicaSetHostTimeoutMs: 0,
    periodicNoopIntervalSecs: 5,
    networkTimeoutMs: 1,
    nativeWire: true,
    strict: true,
    autoSplit: true,
  }
  const limits = { maxIncomingConnections: 5, maxOpenCursors: 0, maxRequestMemory: '64KB' }
  t.same(
    resolveOptions({ ...same, limits, serverTimings: true, chunkSize: '64KB', oplogSize: '64KB', diskSize: '1MB' }),
    {
      ...same,
      announcedHost: '::1',
      clientLimits: { port: { maxIncomingConnections: 5, requestBytesMax: 65_536 }, cursorsMax: 0 },
      topology: 'sharded',
      members: null,
      sets: {},
      setName: '',
      initiate: true,
      heartbeatIntervalMs: 2000,
      electionTimeoutMs: 10_000,
      nats: null,
      clock: 'real',
      autoAdvance: true,
      chunkSizeBytes: 65_536,
      oplogSizeBytes: 65_536,
      diskSizeBytes: 1024 ** 2,
      dbPath: null,
    },
  )
  t.equal(resolveOptions({ serverTimings: true }).balancerRoundIntervalMs, 10_000)
})

t.test('the bounds of every range are accepted', async (t) => {
  const fine: ClusterOptions[] = [
    { shards: 0 },
    { members: 7 },
    { topology: 'replica-set', members: 1, setName: 'a' },
    { shards: 1000 },
    { mongos: 100, port: 65_436 },
    { port: 65_535 },
    { chunkSize: '1KB' },
    { chunkSize: '1GB' },
    { chunkSize: '1024B' },
    { hosts: 64 },
    { seed: 2 ** 32 - 1 },
    { diskSize: '1MB' },
    { findReplicaSetHostTimeoutMs: 2 ** 31 - 1 },
  ]
  for (const options of fine) t.doesNotThrow(() => resolveOptions(options), JSON.stringify(options))
})

const names =
  'dashboard, shards, standby, mongos, port, host, insecure, tls, emulate, chunkSize, runtime, nats, clock, autoAdvance, hosts, seed, balancerRoundIntervalMs, serverTimings, findReplicaSetHostTimeoutMs, periodicNoopIntervalSecs, networkTimeoutMs, nativeWire, auth, limits, setParameter, strict, autoSplit, oplogSize, diskSize, from, dbPath, topology, members, sets, setName, initiate'

/** Includes types that TypeScript would refuse. */
const wrong: readonly [Record<string, unknown>, string][] = [
  [{ shard: 3 }, 'shard is not an option of a cluster; did you mean shards?'],
  [{ colour: 3 }, `colour is not an option of a cluster; the options are ${names}.`],
  [{ shards: -1 }, 'shards is -1; it must be a whole number from 0 to 1000.'],
  [{ shards: 1001 }, 'shards is 1001; it must be a whole number from 0 to 1000.'],
  [{ shards: 2.5 }, 'shards is 2.5; it must be a whole number from 0 to 1000.'],
  [{ shards: '3' }, 'shards is "3"; it must be a whole number from 0 to 1000.'],
  [{ mongos: 0 }, 'mongos is 0; it must be a whole number from 1 to 100.'],
  [
    { members: 0 },
    'members is 0; it must be a whole number from 1 to 7, or a list of members such as [{ priority: 2 }, {}, {}] in the API or in a topology file.',
  ],
  [{ members: [3] }, 'members[0] is 3; it must be options such as { priority: 2 }.'],
  [{ members: [{ prioritty: 1 }] }, 'members[0] has prioritty, which is no option of a member; did you mean priority?'],
  [{ members: [{ priority: -1 }] }, 'members[0].priority is -1; it must be a number from 0 to 1000.'],
  [{ members: [{}, { hidden: true }] }, 'members[1].priority must be 0, because the member is hidden.'],
  [{ members: [{}, { arbiterOnly: true }] }, 'members[1].arbiterOnly must be false: a config server has no arbiters.'],
  [{ sets: { shard4: 3 } }, 'sets has shard4, which is no set of this cluster; did you mean shard01?'],
  [
    { initiate: false },
    "initiate: false needs topology: 'replica-set', or standby sets of several members; remove initiate.",
  ],
  [
    { topology: 'standalone', members: 3 },
    "members is an option of replica sets: remove it, or topology: 'standalone'.",
  ],
  [
    { sets: { shard01: [{}, {}, { arbiterOnly: true }] } },
    'shard01 has so many arbiters that its default write concern is { w: 1 }, and 7.0 adds no such shard: start it with standby, set a default by setDefaultRWConcern, and add it by addShard.',
  ],
  [{ mongos: 101 }, 'mongos is 101; it must be a whole number from 1 to 100.'],
  [{ port: -1 }, 'port is -1; it must be a whole number from 0 to 65535.'],
  [{ port: 65_536 }, 'port is 65536; it must be a whole number from 0 to 65535.'],
  [
    { port: 65_535, mongos: 2 },
    'port 65535 is too high for 2 mongoses, which take consecutive ports up to 65535: choose a lower port.',
  ],
  [{ emulate: '7' }, 'emulate is "7"; use one of 2.6, 4.0, 4.4, 5.0, 6.0.2, 6.0, 7.0, 8.0.'],
  [{ runtime: 'cloud' }, 'runtime is "cloud"; use threads or inline.'],
  [{ runtime: 'inline', hosts: 2 }, "hosts needs runtime: 'threads'; remove hosts."],
  [{ clock: 'stopped' }, 'clock is "stopped"; use real or manual.'],
  [{ nats: {} }, 'nats.url must be an address such as nats://127.0.0.1:4222.'],
  [
    { nats: { url: 'nats://h', machines: [] } },
    'nats.machines must name the hosts, such as H1,H2: start each with shardlab host.',
  ],
  [
    { nats: { url: 'nats://h', machines: ['H1'], place: { config: ['H2'] } } },
    'config is placed on H2, which is not one of the machines H1.',
  ],
  [
    { nats: { url: 'nats://h', machines: ['H1'] }, runtime: 'inline' },
    'members run on the machines of nats: remove runtime.',
  ],
  [
    { nats: { url: 'nats://h', machines: ['H1'] }, dbPath: 'x' },
    'each host keeps the data of its members: start hosts with --dbpath, and remove dbPath here.',
  ],
  [{ clock: 'manual' }, "clock: 'manual' needs runtime: 'inline'; set both."],
  [{ runtime: 'inline', autoAdvance: true }, "autoAdvance needs clock: 'manual'; set both, or remove autoAdvance."],
  [{ oplogSize: '1GB' }, 'oplogSize is 1GB; it must be from 1KB to a sixteenth of diskSize.'],
  [{ periodicNoopIntervalSecs: 11 }, 'periodicNoopIntervalSecs is 11; it must be a whole number from 1 to 10.'],
  [{ networkTimeoutMs: 0 }, 'networkTimeoutMs is 0; it must be a whole number from 1 to 2147483647.'],
  [{ hosts: 0 }, 'hosts is 0; it must be a whole number from 1 to 64.'],
  [{ hosts: 65 }, 'hosts is 65; it must be a whole number from 1 to 64.'],
  [{ host: '' }, 'host must be an address to listen on, such as 127.0.0.1.'],
  [{ host: 5 }, 'host must be an address to listen on, such as 127.0.0.1.'],
  [
    { host: '0.0.0.0' },
    'host is 0.0.0.0, where other machines can connect, and clients need no user: add auth, or insecure to allow it, or listen on 127.0.0.1.',
  ],
  [
    { limits: 5 as never },
    'limits is 5; it must be an object with maxIncomingConnections, maxOpenCursors, maxRequestMemory.',
  ],
  [
    { limits: { maxCursors: 5 } as never },
    'limits has no option maxCursors; use maxIncomingConnections, maxOpenCursors, maxRequestMemory.',
  ],
  [
    { limits: { maxIncomingConnections: 4 } },
    'limits.maxIncomingConnections is 4; it must be a whole number from 5 to 2147483647.',
  ],
  [{ limits: { maxRequestMemory: '1KB' } }, 'limits.maxRequestMemory is 1KB; it must be at least 64KB.'],
  [{ setParameter: 'x' as never }, 'setParameter is "x"; it must be an object such as { maxSessions: 1000 }.'],
  [{ chunkSize: 'big' }, 'chunkSize is "big"; it must be a size such as 64KB, 128MB or 1GB.'],
  [{ chunkSize: '1023B' }, 'chunkSize is 1023B; it must be from 1KB to 1GB.'],
  [{ chunkSize: 64 as unknown as string }, 'chunkSize is 64; it must have a unit, such as 64KB or 64MB.'],
  [{ chunkSize: '2GB' }, 'chunkSize is 2GB; it must be from 1KB to 1GB.'],
  [{ from: {} as never }, 'invalid snapshot: take one with await cluster.snapshot().'],
  [{ diskSize: 'none' }, 'diskSize is "none"; it must be a size such as 64KB, 128MB or 1GB.'],
  [{ diskSize: '1023KB' }, 'diskSize is 1023KB; it must be at least 1MB.'],
  [{ diskSize: '4GB', dbPath: '/data' }, 'diskSize is 4GB; with dbPath it must be below 4GB.'],
  [{ seed: -1 }, 'seed is -1; it must be a whole number from 0 to 4294967295.'],
  [{ seed: 2 ** 32 }, 'seed is 4294967296; it must be a whole number from 0 to 4294967295.'],
  [{ balancerRoundIntervalMs: 0 }, 'balancerRoundIntervalMs is 0; it must be a whole number from 1 to 2147483647.'],
  [
    { findReplicaSetHostTimeoutMs: -1 },
    'findReplicaSetHostTimeoutMs is -1; it must be a whole number from 0 to 2147483647.',
  ],
]

t.test('a wrong option is refused with one sentence', async (t) => {
  for (const [options, sentence] of wrong)
    t.throws(() => resolveOptions(options), new OptionError(sentence), JSON.stringify(options))
  for (const options of [null, 3, ['shards']])
    await t.rejects(ShardedCluster.start(options as ClusterOptions), {
      message: 'the options of a cluster must be an object, such as { shards: 3 }.',
    })
})

t.test('an address that other machines reach needs auth or insecure', async (t) => {
  for (const host of ['127.0.0.1', '127.1.2.3', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', 'localhost'])
    t.equal(resolveOptions({ host }).host, host)
  for (const host of [
    '0.0.0.0',
    '::',
    '192.168.0.1',
    '::ffff:10.0.0.1',
    'localhost.example.net',
    '127.0.0.1.example.net',
  ]) {
    t.throws(() => resolveOptions({ host }), { name: 'OptionError', message: /clients need no user/ }, host)
    t.throws(() => resolveOptions({ host, auth: false, insecure: false }), OptionError, host)
    t.equal(resolveOptions({ host, auth: true }).host, host)
    t.equal(resolveOptions({ host, insecure: true }).insecure, true)
  }
})

t.test('a simulated cluster has the timings of the server and refuses options of listening', async (t) => {
  t.match(resolveSimulatedOptions({ seed: 7, shards: 2 }), {
    seed: 7,
    shards: 2,
    port: 0,
    balancerRoundIntervalMs: 10_000,
  })
  t.equal(resolveSimulatedOptions({ serverTimings: false }).balancerRoundIntervalMs, 1000)
  const simulatedNames =
    'shards, standby, mongos, emulate, chunkSize, seed, balancerRoundIntervalMs, serverTimings, findReplicaSetHostTimeoutMs, periodicNoopIntervalSecs, networkTimeoutMs, nativeWire, auth, limits, setParameter, strict, autoSplit, oplogSize, diskSize, members, sets'
  for (const name of ['runtime', 'clock', 'autoAdvance', 'hosts', 'port', 'host', 'insecure', 'dashboard']) {
    const sentence = `${name} is not an option of a simulated cluster; the options are ${simulatedNames}.`
    t.throws(() => resolveSimulatedOptions({ [name]: 1 }), new OptionError(sentence))
  }
  t.throws(
    () => resolveSimulatedOptions({ shards: -1 }),
    new OptionError('shards is -1; it must be a whole number from 0 to 1000.'),
  )
})
