import t from 'tap'
import { failedExpectations, parseScenario, parseExpectation, parseRate, parseTime } from '@shardlab/scenario'

const base = `version: 1
seed: 7
emulate: "7.0"
cluster: { shards: 2, chunkSize: 1MB, zones: { eu: [shard01] } }
collections:
  - { ns: shop.orders, key: { customer: 1 } }
data:
  - { ns: shop.orders, size: 2MB, documentSize: 1KB, keys: { distribution: zipfian, theta: 0.9, cardinality: 5e6 } }
workload:
  - { ns: shop.orders, rate: 30/m, from: 10s, to: 1h, mix: { insert: 0.2, findByKey: 0.8 }, keys: { distribution: monotonic } }
timeline:
  - { at: 2h, do: addShard, shard: shard03 }
  - { at: 3h, do: crash shard02 for 10m }
duration: 48h
expect:
  - imbalance.last < 1.2
`

t.test('quantities of a scenario become numbers and defaults are filled in', async (t) => {
  const { seed, shows, variants } = parseScenario(base, 'a.yaml')
  t.equal(seed, 7)
  t.equal(shows, null)
  t.equal(variants.length, 1)
  t.match(variants[0], {
    name: 'scenario',
    cluster: { shards: 2, mongos: 1, chunkSize: 1048576 },
    collections: [{ ns: 'shop.orders', key: { customer: 1 }, mode: 'documents', unique: false, splitAt: [] }],
    data: [
      { size: 2097152, documentSize: 1024, keys: { distribution: 'zipfian', theta: 0.9, cardinality: 5_000_000 } },
    ],
    workload: [{ rate: 0.5, from: 10_000, to: 3_600_000, mix: { insert: 0.2, findByKey: 0.8, findOther: 0 } }],
    timeline: [
      { at: 7_200_000, do: 'addShard', shard: 'shard03', count: 1 },
      { at: 10_800_000, do: 'crash shard02 for 10m', fault: true },
    ],
    duration: 172_800_000,
  })
})

t.test('a variant is merged over the scenario, lists by collection and setting by setting', async (t) => {
  const file = parseScenario(
    `${base}variants:
  - { name: ranged }
  - { name: hashed, emulate: "6.0.2", cluster: { shards: 5 }, collections: [{ ns: shop.orders, key: { _id: hashed } }], data: [], workload: [], timeline: [], expect: [] }
  - { name: slower, workload: [{ ns: shop.orders, rate: 1/m }, { ns: shop.orders, rate: 1/h, mix: { insert: 1 }, keys: { distribution: latest } }], timeline: [] }
`,
    'a.yaml',
  )
  const [ranged, hashed, slower] = file.variants
  t.same(ranged, { ...parseScenario(base, 'a.yaml').variants[0], name: 'ranged' })
  t.match(hashed, { name: 'hashed', emulate: '6.0.2', cluster: { shards: 5, chunkSize: 1048576 } })
  t.same(hashed!.collections[0]!.key, { _id: 'hashed' }, 'a key is replaced as a whole')
  t.same(
    slower!.workload.map(({ rate, from }) => [rate, from]),
    [
      [1 / 60, 10_000],
      [1 / 3600, 0],
    ],
  )
  t.same(slower!.timeline, [])
})

t.test('a broken rule is reported with its line', async (t) => {
  const rules: readonly [find: string, replace: string, message: string | RegExp][] = [
    ['version: 1', 'version: 2', 'a.yaml:1: version: must be 1'],
    ['"7.0"', '"7.1"', 'a.yaml:3: emulate: must be one of 2.6, 4.0, 4.4, 5.0, 6.0.2, 6.0, 7.0, 8.0, in quotes'],
    ['seed: 7', 'seeds: 7', 'a.yaml:2: seeds: there is no such setting'],
    ['shards: 2', 'shards: 0', 'a.yaml:4: cluster.shards: must be a whole number from 1 to 1000'],
    [
      'eu: [shard01]',
      'eu: [shard09]',
      'a.yaml:4: cluster.zones.eu.0: shard09 does not exist at that time; the shards are shard01 to shard02',
    ],
    ['key: { customer: 1 }', 'key: { customer: -1 }', 'a.yaml:6: collections.0.key.customer: must be 1 or hashed'],
    [
      'key: { customer: 1 }',
      'key: { customer: 1 }, mode: sizes',
      'a.yaml:6: collections.0.mode: must be documents or metadata',
    ],
    [
      'key: { customer: 1 }',
      'key: { a: 1, b: 1, c: 1, d: 1 }, mode: metadata',
      'a.yaml:6: collections.0.key: must have at most three fields in mode metadata',
    ],
    [
      'key: { customer: 1 }',
      'key: { customer: 1 }, numInitialChunks: 9',
      'a.yaml:6: collections.0.numInitialChunks: is allowed only for a hashed key',
    ],
    [
      'shards: 2',
      'shards: 2, migrationBandwidth: 5MB',
      'a.yaml:4: cluster.migrationBandwidth: must be a rate such as 64KB/s or 10MB/s',
    ],
    ['key: { customer: 1 }', 'key: { _id: 1 }', 'a.yaml:8: data.0.keys: an _id cannot repeat'],
    ['size: 2MB', 'size: 2 pounds', 'a.yaml:8: data.0.size: must be a size such as 64KB, 128MB or 1GB'],
    ['size: 2MB, ', '', 'a.yaml:8: data.0.size: is missing'],
    [
      'distribution: zipfian',
      'distribution: normal',
      'a.yaml:8: data.0.keys.distribution: must be one of uniform, zipfian',
    ],
    ['theta: 0.9', 'theta: 1', 'a.yaml:8: data.0.keys.theta: must be above 0 and below 1'],
    [
      'ns: shop.orders, rate',
      'ns: shop.other, rate',
      'a.yaml:10: workload.0.ns: shop.other is not one of the collections (shop.orders)',
    ],
    ['rate: 30/m', 'rate: 30', 'a.yaml:10: workload.0.rate: must be a rate such as 50/s, or { low, high, period }'],
    ['insert: 0.2', 'insert: 0.3', 'a.yaml:10: workload.0.mix: must have shares that add up to 1'],
    ['from: 10s', 'from: 2h', 'a.yaml:10: workload.0.from: is not before its end'],
    ['at: 2h', 'at: 3d', 'a.yaml:12: timeline.0.at: is after the end of the scenario'],
    ['shard: shard03', 'shard: shard04', 'a.yaml:12: timeline.0.shard: the next shard is shard03'],
    [
      'do: addShard',
      'do: addShrad',
      'a.yaml:12: timeline.0.do: addShrad is neither a fault nor one of addShard, removeShard, ',
    ],
    ['do: addShard', 'do: addShrad', / command; did you mean addShard\?$/],
    ['do: addShard', 'do: cash', /: cash is neither a fault nor one of .*; did you mean crash\?$/],
    ['crash shard02 for 10m', 'crash', "a.yaml:13: timeline.1.do: cannot read the fault 'crash'"],
    ['crash shard02 for 10m', 'crash shard07', 'a.yaml:13: timeline.1.do: shard07 is not a member'],
    [
      'crash shard02 for 10m',
      'partition shard1 from shard09',
      'a.yaml:13: timeline.1.do: shard09 is not a member; members are shards (shard01), mongoses (mongos01), config and balancer',
    ],
    [
      'crash shard02 for 10m',
      'crash shard02 for -5s',
      'a.yaml:13: timeline.1.do: invalid fault crash: for must not be negative',
    ],
    ['crash shard02 for 10m', 'drop 150% between mongos01 and shard02', /^a\.yaml:13: timeline\.1\.do: /],
    ['crash shard02 for 10m', 'delay between mongos01 and shard02 by -20ms', /^a\.yaml:13: timeline\.1\.do: /],
    [
      'imbalance.last < 1.2',
      'hottest.share < 40',
      /^a\.yaml:16: expect\.0: .* must be a share from 0 to 1, such as 0\.4 or 40%$/,
    ],
    ['imbalance.last < 1.2', 'operations.routed.broadcast < 101%', /must be a share from 0 to 1/],
    ['distribution: zipfian', 'distribution: zipfan', / latest, file; did you mean zipfian\?$/],
    [
      'do: crash shard02 for 10m',
      'do: command, command: { ping: 1 }, fails: 1, answers: { ok: 1 }',
      'a.yaml:13: timeline.1.answers: fails and answers exclude each other',
    ],
    ['do: crash shard02 for 10m', 'do: command, command: {}', 'a.yaml:13: timeline.1.command: must not be empty'],
    [
      'do: crash shard02 for 10m',
      'do: command, command: { ping: 1 }, answers: {}',
      'a.yaml:13: timeline.1.answers: must have at least one path',
    ],
    [
      'imbalance.last < 1.2',
      'imbalance.last is low',
      'a.yaml:16: expect.0: "imbalance.last is low" is not an expectation',
    ],
    [
      'imbalance.last < 1.2',
      'imbalanced.last < 1.2',
      'a.yaml:16: expect.0: imbalanced.last is not a number of the result; ',
    ],
    [
      'imbalance.last < 1.2',
      'imbalance.lst < 1.2',
      'a.yaml:16: expect.0: imbalance.lst is not a number of the result; did you mean imbalance.last?',
    ],
    [
      'imbalance.last < 1.2',
      'imbalance.last < 5MB',
      'a.yaml:16: expect.0: "imbalance.last < 5MB" compares with 5MB, which must be a number, or a share such as 40%',
    ],
    [
      'imbalance.last < 1.2',
      'bytesMoved < 5m',
      'a.yaml:16: expect.0: "bytesMoved < 5m" compares with 5m, which must be a size such as 64KB',
    ],
    [
      'imbalance.last < 1.2',
      'bytesMoved < 1000',
      'a.yaml:16: expect.0: "bytesMoved < 1000" compares with 1000, which must have a unit, such as 1000KB or 1000MB',
    ],
    [
      'imbalance.last < 1.2',
      'convergedAtMs < 9',
      'a.yaml:16: expect.0: "convergedAtMs < 9" compares with 9, which must have a unit, such as 9ms or 9s',
    ],
    [
      'imbalance.last < 1.2',
      'splits < many',
      'a.yaml:16: expect.0: "splits < many" compares with many, which must be a number',
    ],
    [
      'imbalance.last < 1.2',
      'shards.shard04.bytes < 5B',
      'a.yaml:16: expect.0: the scenario never has a shard shard04',
    ],
    ['shards: 2', 'shard: 2', 'a.yaml:4: cluster.shard: there is no such setting; did you mean shards?'],
    ['size: 2MB', 'sizes: 2MB', 'a.yaml:8: data.0.sizes: there is no such setting; did you mean size?'],
    ['duration: 48h', 'durations: 48h', 'a.yaml:14: durations: there is no such setting; did you mean duration?'],
    ['eu: [shard01]', 'eu: shard01', 'a.yaml:4: cluster.zones.eu: must be a list, not a text'],
    ['size: 2MB', 'size: 8000TB', 'a.yaml:8: data: has 8000 TB of documents, but this machine has'],
    ['size: 2MB', 'size: 1000B', 'a.yaml:8: data.0.size: is smaller than one document'],
    ['size: 2MB', 'size: 2', 'a.yaml:8: data.0.size: must have a unit, such as 2KB or 2MB'],
    ['duration: 48h', 'duration: 48', 'a.yaml:14: duration: must have a unit, such as 48ms or 48s'],
    ['documentSize: 1KB', 'documentSize: 17MB', 'a.yaml:8: data.0.documentSize: must be from 64 bytes to 16MB'],
    [
      'rate: 30/m',
      'rate: 1e9/s',
      'a.yaml:10: workload.0.rate: gives 3,590,000,000,000 operations, and each is simulated',
    ],
    ['rate: 30/m', 'rate: { low: 9/s, high: 1/s }', 'a.yaml:10: workload.0.rate.low: is greater than high'],
    [
      'rate: 30/m',
      'rate: { low: 1/s, high: 9/s, period: 0s }',
      'a.yaml:10: workload.0.rate.period: must be at least 1s',
    ],
    [
      'do: crash shard02 for 10m',
      'do: workload, ns: shop.orders, name: a, rate: 1/s',
      'a.yaml:13: timeline.1.name: no workload of shop.orders matches',
    ],
    [
      'do: crash shard02 for 10m',
      'do: chunkSize, size: 64KB',
      'a.yaml:13: timeline.1.size: must be a whole number of megabytes from 1MB to 1GB',
    ],
    [
      'do: crash shard02 for 10m',
      'do: balancerWindow, start: "2:00", stop: "02:00"',
      'a.yaml:13: timeline.1.stop: must differ from start',
    ],
    [
      'key: { customer: 1 }',
      'key: { customer: 1 }, splitAt: [5, 5]',
      'a.yaml:6: collections.0.splitAt.1: 5 is listed twice',
    ],
    [
      'key: { customer: 1 }',
      'key: { customer: 1 }, sharded: false, splitAt: [5]',
      'a.yaml:6: collections.0.splitAt: is allowed only for',
    ],
    ['key: { customer: 1 }', 'key: { a.b: 1 }', 'a.yaml:6: collections.0.key: must have field names without dots'],
    ['key: { customer: 1 }', 'key: { pad: 1 }', 'a.yaml:6: collections.0.key: must not use other or pad'],
    [
      'key: { customer: 1 }',
      'key: { a: hashed, b: hashed }',
      'a.yaml:6: collections.0.key: must have at most one hashed field',
    ],
    ['duration: 48h', 'duration: 48h\nduration: 1h', 'a.yaml:15: Map keys must be unique'],
  ]
  for (const [find, replace, message] of rules) {
    const text = base.replace(find, replace)
    t.throws(
      () => parseScenario(text, 'a.yaml'),
      { name: 'OptionError', message: typeof message === 'string' ? new RegExp(`^${escaped(message)}`) : message },
      String(message),
    )
  }
  const inVariant = (variant: string, message: string) =>
    t.throws(
      () => parseScenario(`${base}variants:\n  - { name: a }\n  - ${variant}\n`, 'a.yaml'),
      { name: 'OptionError', message: new RegExp(`^${escaped(message)}`) },
      message,
    )
  inVariant('{ seed: 1 }', 'a.yaml:19: variants.1.name: is missing')
  inVariant('{ name: a }', 'a.yaml:19: variants.1.name: "a" is already the name of another variant')
  inVariant('{ name: b, data: [{ ns: shop.orders, size: none }] }', 'a.yaml:19: variants.1.data.0.size: must be a size')
  inVariant('{ name: b, cluster: { shards: 1 } }', 'a.yaml:12: timeline.0.shard: the next shard is shard02')
})

t.test('the comment at the top of the file becomes its description', (t) => {
  t.equal(parseScenario(base, 'a.yaml').about, null)
  t.equal(parseScenario(`# What happens,\n# and why.\n${base}# Not this.\n`, 'a.yaml').about, 'What happens, and why.')
  t.end()
})

t.test('expectations compare numbers of the result, given by path', async (t) => {
  const result = {
    imbalance: { last: 1.5 },
    migrations: { byReason: { draining: 3 } },
    bytesMoved: 2048,
    convergedAtMs: null,
  }
  const met = [
    'imbalance.last <= 1.5',
    'migrations.byReason.draining == 3',
    'bytesMoved < 3KB',
    'imbalance.last > 140%',
  ]
  t.same(failedExpectations(result, met), [])
  t.same(
    failedExpectations(result, ['imbalance.last < 1.2', 'convergedAtMs < 2h']).map(({ message, actual }) => [
      message,
      actual,
    ]),
    [
      ['expected imbalance.last < 1.2, but it is 1.5', 1.5],
      ['expected convergedAtMs < 2h, but the result has no value for convergedAtMs', null],
    ],
  )
  t.match(parseExpectation('convergedAtMs < 2h'), { path: 'convergedAtMs', operator: '<', value: 7_200_000 })
  t.match(parseExpectation('imbalance.last < 1e-3'), { value: 0.001 })
  t.match(parseExpectation('bytesMoved == 0'), { value: 0 })
  t.match(parseExpectation('bytesMoved < many'), /^"bytesMoved < many" compares with many/)
})

t.test('expectations reach every number of a resharding', async (t) => {
  const needs = { bytes: 9, indexBytes: 1, shards: 2, freeBytesPerShard: 10, leastMs: 300_000 }
  const resharding = { bytes: 9, cloneMs: 5, blockedMs: 2, beganMs: 1, endedMs: 7, receivedBytes: { shard02: 4 } }
  const result = { reshardings: [resharding], reshardingNeeds: { 'my-shop.orders.old': needs } }
  const met = [
    'reshardings.0.bytes == 9B',
    'reshardings.0.receivedBytes.shard02 == 4B',
    ...['cloneMs == 5ms', 'blockedMs == 2ms', 'beganMs == 1ms', 'endedMs == 7ms'].map(
      (each) => `reshardings.0.${each}`,
    ),
    ...['bytes == 9B', 'indexBytes == 1B', 'freeBytesPerShard == 10B', 'leastMs == 5m'].map(
      (each) => `reshardingNeeds.my-shop.orders.old.${each}`,
    ),
  ]
  for (const text of met) t.match(parseExpectation(text), { text })
  t.same(failedExpectations(result, met), [])
  t.match(failedExpectations(result, ['reshardings.1.bytes == 9B']), [{ actual: null }])
})

t.test('a name of a member may leave a zero out, everywhere', async (t) => {
  const short = base.replaceAll('shard0', 'shard').replace('imbalance.last < 1.2', 'shards.shard2.bytes > 1KB')
  const { variants } = parseScenario(
    short.replace('customer: 1 }', 'customer: 1 }, primary: shard2').replace(
      'timeline:',
      `timeline:
  - { at: 1h, do: removeShard, shard: shard2 }
  - { at: 1h, do: addShardToZone, shard: shard1, zone: eu }
  - { at: 1h, do: removeShardFromZone, shard: shard1, zone: eu }`,
    ),
    'a.yaml',
  )
  t.match(variants[0], {
    cluster: { zones: { eu: ['shard01'] } },
    collections: [{ primary: 'shard02' }],
    timeline: [
      { shard: 'shard02' },
      { shard: 'shard01' },
      { shard: 'shard01' },
      { do: 'addShard', shard: 'shard03' },
      { do: 'crash shard2 for 10m' },
    ],
  })
  t.match(parseExpectation('shards.shard2.bytes > 1KB'), { path: 'shards.shard02.bytes' })
  t.match(parseExpectation('drains.shard4.windows < 3'), { path: 'drains.shard04.windows' })
  t.throws(() => parseScenario(short.replace('crash shard2', 'crash shard9'), 'a.yaml'), {
    message: /shard9 is not a member/,
  })
})

t.test('times may be written as reports print them', async (t) => {
  const [minute, hour] = [60_000, 3_600_000]
  t.same(['90m', '1h 30m', '1d12h', '2h 05m', '12m 30s'].map(parseTime), [
    90 * minute,
    1.5 * hour,
    36 * hour,
    125 * minute,
    12.5 * minute,
  ])
  for (const wrong of ['30m 1h', '1h 1h', '1h and', 'soon']) t.throws(() => parseTime(wrong), /^must be a time/, wrong)
})

t.test('a rate needs a number and a unit', async (t) => {
  t.same([parseRate('5000/s'), parseRate('30/m'), parseRate('1.5e3/s'), parseRate('0/s')], [5000, 0.5, 1500, 0])
  t.throws(() => parseRate('5000'), /^must be a rate/)
})

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
