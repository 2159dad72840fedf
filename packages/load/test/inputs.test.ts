import t from 'tap'
import {
  OptionError,
  parseExpectation,
  parseFault,
  parseShardKey,
  parseSweep,
  parseWorkload,
  runLoad,
} from '@shardlab/load'

const valid = `name: orders
ns: shop.orders
records: 500
shardKey: { customer: 1, _id: 1 }
record:
  _id: { $keyName: {} }
  customer: { $int: [0, 1000] }
  kind: { $oneOf: [a, b] }
  at: { $date: [2024-01-01, 2024-12-31] }
  number: { $key: { times: 3, mod: 7 } }
  nested: { fixed: 1, list: [{ $int: [1, 2] }] }
  note: { $text: 64 }
operations:
  one: { do: findOne, by: [customer, _id], weight: 3 }
  span: { do: find, range: { field: customer, width: 50 }, limit: [1, 10], sort: { customer: 1 } }
  kinds: { do: aggregate, by: [kind], pipeline: [{ $count: n }] }
  change: { do: update, by: [customer, _id] }
  more: { do: bulkInsert, documents: 5 }
phases:
  - { name: calm, duration: 2s, rate: 100 }
  - { name: storm, operations: 100, concurrency: 8, mix: { one: 1, more: 1 } }
`

t.test('a workload file is parsed, and errors name line and rule', async (t) => {
  const workload = parseWorkload(valid, 'orders.yaml')
  t.equal(workload.records, 500)
  t.same(
    workload.operations.map(({ name, newRecords }) => [name, newRecords]),
    [
      ['one', 0],
      ['span', 0],
      ['kinds', 0],
      ['change', 0],
      ['more', 5],
    ],
  )
  const record = workload.template.record(10, 0)
  t.match(record, { number: 30 % 7, nested: { fixed: 1, list: [1] }, at: Date })
  t.equal(String(record['note']).length, 64)
})

const wrong: readonly [change: readonly [string, string], said: RegExp][] = [
  [['name: orders', 'name: [unclosed'], /^w\.yaml:\d+: Flow sequence in block collection/],
  [['records: 500', 'records: many'], /^w\.yaml:3: records: must be a whole number/],
  [['records: 500', 'rows: 500'], /^w\.yaml:3: rows: there is no such setting$/],
  [['ns: shop.orders', 'ns: orders'], /^w\.yaml:2: ns: must be database\.collection$/],
  [['shardKey: { customer: 1', 'shardKey: { customer: -1'], /^w\.yaml:4: shardKey\.customer: must be 1 or hashed$/],
  [
    ['shardKey: { customer: 1', 'shardKey: { owner: 1'],
    /^w\.yaml:4: shardKey\.owner: must be a field of the record \(_id, customer, kind, /,
  ],
  [
    ['shardKey: { customer: 1', 'shardKey: { note: 1'],
    /^w\.yaml:4: shardKey\.note: must not be a text, which updates change$/,
  ],
  [['_id: { $keyName: {} }', '_id: 5'], /^w\.yaml:6: record\._id: must be \{ \$keyName/],
  [['$int: [0, 1000]', '$int: [9, 3]'], /^w\.yaml:7: record\.customer: \$int must be \[from, to\]/],
  [['$oneOf: [a, b]', '$oneOf: []'], /^w\.yaml:8: record\.kind: \$oneOf must be a list with at least one value$/],
  [['$date: [2024-01-01', '$date: [tomorrow'], /^w\.yaml:9: record\.at: \$date must be \[from, to\]/],
  [['$key: { times: 3', '$key: { times: 0.5'], /^w\.yaml:10: record\.number: \$key must have whole numbers/],
  [['$int: [1, 2]', '$dice: 6'], /^w\.yaml:11: record\.nested\.list\.0: there is no generator \$dice/],
  [['$text: 64', '$text: 3'], /^w\.yaml:12: record\.note: \$text must be a length from 12/],
  [['do: findOne', 'do: findAll'], /^w\.yaml:14: operations\.one\.do: must be one of findOne, find,/],
  [['do: findOne', 'do: finOne'], /^w\.yaml:14: .* readModifyWrite, transaction; did you mean findOne\?$/],
  [['by: [customer, _id], weight: 3', 'weight: 3'], /^w\.yaml:14: operations\.one\.do: needs by$/],
  [['weight: 3', 'weight: -1'], /^w\.yaml:14: operations\.one\.weight: must be a number from 0 on$/],
  [
    ['field: customer, width', 'field: kind, width'],
    /^w\.yaml:15: operations\.span\.range: must be a number, \$int or \$key, to have a width$/,
  ],
  [
    ['limit: [1, 10]', 'limit: [10, 1]'],
    /^w\.yaml:15: operations\.span\.limit: must be \[from, to\] with from at most to$/,
  ],
  [
    ['by: [kind], pipeline', 'by: [colour], pipeline'],
    /^w\.yaml:16: operations\.kinds\.by: must use fields of the record; colour is not one of _id, customer, /,
  ],
  [
    ['by: [kind], pipeline', 'filter: { customer: 3 }, pipeline'],
    /^w\.yaml:16: operations\.kinds\.filter: must not name customer, the shard key/,
  ],
  [['update, by: [customer, _id]', 'update, by: [customer]'], /^w\.yaml:17: operations\.change\.do: needs by with _id/],
  [['documents: 5', 'documents: 0'], /^w\.yaml:18: operations\.more\.documents: must be at least 1$/],
  [
    ['documents: 5', 'by: [_id]'],
    /^w\.yaml:18: operations\.more\.do: must have neither by nor range: it makes records$/,
  ],
  [['duration: 2s, rate', 'rate'], /^w\.yaml:20: phases\.0: must have either duration or operations$/],
  [['duration: 2s', 'duration: 2'], /^w\.yaml:20: phases\.0\.duration: must have a unit, such as 2ms or 2s$/],
  [['duration: 2s', 'duration: 2 seconds'], /^w\.yaml:20: phases\.0\.duration: must be a time such as 2s$/],
  [['duration: 2s', 'duration: 0s'], /^w\.yaml:20: phases\.0\.duration: must be above 0$/],
  [['ns: shop.orders', 'ns: config.chunks'], /^w\.yaml:2: ns: must not be one of the server's own$/],
  [['ns: shop.orders', 'ns: shop.system.views'], /^w\.yaml:2: ns: must not be one of the server's own$/],
  [
    ['note: { $text: 64 }', 'note: { $text: 8000000 }\n  more: { $text: 8000000 }\n  most: { $text: 8000000 }'],
    /^w\.yaml:\d+: record: must have texts of less than 16777216 bytes, .* not 24000/,
  ],
  [
    ['$count: n', '$out: other'],
    /^w\.yaml:16: operations\.kinds\.pipeline: must not have \$out, which writes to other collections$/,
  ],
  [
    ['note: { $text: 64 }', 'note: { $text: 8000000 }\n  more: { $text: 8000000 }'],
    /^w\.yaml:\d+: operations\.more\.documents: must be fewer/,
  ],
  [
    ['mix: { one: 1', 'mix: { none: 1'],
    /^w\.yaml:21: phases\.1\.mix\.none: must be one of the operations \(one, span, /,
  ],
]

for (const [[from, to], said] of wrong) {
  t.test(`${from} -> ${to}`, async (t) => {
    t.ok(valid.includes(from))
    const error = t.throws(() => parseWorkload(valid.replace(from, to), 'w.yaml'), OptionError) as unknown as Error
    t.match(error.message, said)
    t.notMatch(error.message, /\n|\.$/, 'one sentence')
  })
}

t.test('an empty file, a list and an alias bomb are refused', async (t) => {
  const bomb = `name: x\na: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c]`
  t.throws(() => parseWorkload('', 'w.yaml'), {
    message: /^w\.yaml:1: the workload: must be settings with their values/,
  })
  for (const text of ['', '[]', '42', bomb])
    t.throws(() => parseWorkload(text, 'w.yaml'), { name: 'OptionError', message: /^w\.yaml/ })
})

t.test('sweeps are parsed or refused with one sentence', async (t) => {
  t.same(parseSweep('shards=1..16'), { of: 'shards', values: [1, 2, 4, 8, 16] })
  t.same(parseSweep('shards=3..10'), { of: 'shards', values: [3, 6, 10] })
  t.same(parseSweep('rate=1000..2500:500'), { of: 'rate', values: [1000, 1500, 2000, 2500] })
  t.same(parseSweep('mongos=1, 2,4'), { of: 'mongos', values: [1, 2, 4] })
  for (const text of [
    '',
    'shards',
    'wings=1..2',
    'shards=0..4',
    'shards=4..1',
    'rate=1..100000:1',
    'shards=1..4:0',
    'shards=a..b',
  ]) {
    t.throws(() => parseSweep(text), OptionError, text)
  }
})

t.test('faults are parsed or refused with one sentence', async (t) => {
  t.same(parseFault('crash shard02 at 10s for 5s'), { text: 'crash shard02 for 5s', atSecs: 10 })
  t.same(parseFault('at 500ms partition shard01 from shard02'), { text: 'partition shard01 from shard02', atSecs: 0.5 })
  t.same(parseFault('pause shard01'), { text: 'pause shard01', atSecs: 0 })
  for (const text of ['', 'at 5s', 'crash shard02 at noon']) t.throws(() => parseFault(text), OptionError, text)
})

t.test('expectations are parsed or refused with one sentence', async (t) => {
  t.match(parseExpectation('p99<20ms'), { metric: 'p99', scope: null, operator: '<', value: 20_000 })
  t.match(parseExpectation(' p99.9 ( read ) <= 1.5s'), {
    metric: 'p99.9',
    scope: 'read',
    operator: '<=',
    value: 1_500_000,
  })
  t.match(parseExpectation('errors==0'), { metric: 'errors', operator: '==', value: 0 })
  t.match(parseExpectation('share(shard01)<40%'), { metric: 'share', scope: 'shard01', value: 0.4 })
  for (const text of [
    '',
    'p99',
    'p99<20',
    'p101<1ms',
    'errors==0ms',
    'q<1',
    'throughput(read)>1',
    'p99<20ms and more',
    'p99=1ms',
    'share<120%',
    'share<40',
    'errorRate<2',
  ]) {
    t.throws(() => parseExpectation(text), OptionError, text)
  }
})

t.test('shard keys are parsed or refused with one sentence', async (t) => {
  t.same(parseShardKey('customer:1, _id:hashed'), { customer: 1, _id: 'hashed' })
  t.equal(parseShardKey('none'), null)
  for (const text of ['', 'a', 'a:2', 'a:-1', 'a:1,', 'a:1,a:hashed'])
    t.throws(() => parseShardKey(text), OptionError, text)
})

t.test('invalid options are refused with one sentence', async (t) => {
  const uri = 'mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=200'
  const cases: readonly [Record<string, unknown>, RegExp][] = [
    [{ workload: 'z' }, /^workload is "z", neither a workload nor the path of a file; use one of a, b/],
    [{ workload: 'rout-mix' }, /^workload is "rout-mix", .*; did you mean route-mix\?$/],
    [{ distribution: 'zipfan' }, /^distribution is "zipfan"; did you mean zipfian\?$/],
    [{ durationSecs: 0 }, /^durationSecs is 0: it must be above 0$/],
    [{ records: 1.5 }, /^records is 1\.5: it must be a whole number$/],
    [{ workload: './none.yaml' }, /^the workload file \.\/none\.yaml cannot be read: ENOENT$/],
    [{ engine: 'steam' }, /^engine is "steam"; use one of driver, wire$/],
    [{ records: 0 }, /^records is 0: it must be at least 1$/],
    [{ records: 3e9 }, /^records is 3000000000: it must be at most 2000000000$/],
    [{ threads: 4, concurrency: 3 }, /^threads is 4, but no more than 3 operations are in flight$/],
    [{ pipeline: 2 }, /^pipeline is for the engine wire/],
    [{ sweep: 'concurrency=1..4', concurrency: 8 }, /^concurrency is what the sweep changes: leave out --concurrency$/],
    [{ sweep: 'concurrency=1,30000' }, /^concurrency is 30000/],
    [
      { faults: ['crash shard02 at 50s'], durationSecs: 1 },
      /^the fault "crash shard02" is due at 50 s, but the operations take 1 s$/,
    ],
    [{ expectations: [parseExpectation('p99(flight)<1s')] }, /names flight: there are read, update, targeted/],
    [{ ns: 'admin.records' }, /^ns: must not be one of the server's own$/],
    [{ fieldLength: 3 }, /^fieldLength is 3: it must be at least 12$/],
    [{ rate: 0 }, /^rate is 0: it must be above 0$/],
    [{ concurrency: 1.5 }, /^concurrency is 1\.5: it must be a whole number from 1 to /],
    [{ rate: { from: 1, to: 2 }, operations: 5 }, /^a ramp needs a duration/],
    [{ distribution: 'bell' }, /^distribution is "bell"; use one of uniform/],
    [{ ns: 'records' }, /^ns: must be database\.collection$/],
    [{ shardKey: 'colour:1' }, /^shardKey\.colour: must be a field of the record \(/],
    [{ sweep: 'shards=1..4' }, /^a sweep over shards starts its own clusters/],
    [{ faults: ['at 1s'] }, /^the fault "at 1s" is not understood/],
    [{ uri: 'http://x' }, /^the connection string is not valid/],
    [{}, /^nothing answers at mongodb:\/\/127\.0\.0\.1:1/],
  ]
  for (const [options, message] of cases)
    await t.rejects(runLoad({ uri, ...options }), { name: 'OptionError', message }, JSON.stringify(options))
})
