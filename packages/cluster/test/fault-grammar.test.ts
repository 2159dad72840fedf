import t from 'tap'
import { faultForms, formatFault, OptionError, parseFault, type FaultInput } from '../src/index.js'

/** Text, and the data that says the same. */
const faults: readonly (readonly [string, FaultInput])[] = [
  ['crash shard02 for 5s', { verb: 'crash', target: 'shard02', for: 5000 }],
  ['destroy shard02', { verb: 'destroy', target: 'shard02' }],
  ['restart mongos01', { verb: 'restart', target: 'mongos01' }],
  ['stop shard02 after 2h', { verb: 'stop', target: 'shard02', after: 7_200_000 }],
  ['pause shard02', { verb: 'pause', target: 'shard02' }],
  ['resume shard02', { verb: 'resume', target: 'shard02' }],
  ['step down shard02 for 10s', { verb: 'stepDown', target: 'shard02', for: 10_000 }],
  ['slow shard01 by 10x', { verb: 'slow', target: 'shard01', factor: 10 }],
  ['slow disk of shard01 by 20ms', { verb: 'slowDisk', target: 'shard01', by: 20 }],
  ['fill disk of shard01', { verb: 'fullDisk', target: 'shard01' }],
  ['skew clock of shard01 by -2h', { verb: 'skewClock', target: 'shard01', by: -7_200_000 }],
  ['jump clock of shard01 by -2h', { verb: 'jumpClock', target: 'shard01', by: -7_200_000 }],
  [
    'limit between mongos01 and shard02 to 10MB/s',
    { verb: 'limit', link: { from: 'mongos01', to: 'shard02', bothWays: true }, to: 10 * 1024 * 1024 },
  ],
  [
    'limit from shard01 to shard02 to 1000B/s for 1m',
    { verb: 'limit', link: { from: 'shard01', to: 'shard02', bothWays: false }, to: 1000, for: 60_000 },
  ],
  [
    'duplicate 50% between shard01 and config only config.get-collection',
    { verb: 'duplicate', link: { from: 'shard01', to: 'config' }, probability: 0.5, kinds: ['config.get-collection'] },
  ],
  ['freeze routes of mongos01', { verb: 'freezeRoutes', target: 'mongos01' }],
  ['stall range deleter of shard01', { verb: 'stallRangeDeleter', target: 'shard01' }],
  ['partition shard01 from shard02', { verb: 'partition', link: { from: 'shard01', to: 'shard02', bothWays: true } }],
  [
    'partition shard01 from clients one way',
    { verb: 'partition', link: { from: 'shard01', to: 'clients', bothWays: false } },
  ],
  [
    'delay between mongos01 and shard02 by 20ms..40ms with probability 50% seed 7',
    {
      verb: 'delay',
      link: { from: 'mongos01', to: 'shard02', bothWays: true },
      by: 20,
      upTo: 40,
      probability: 0.5,
      seed: 7,
    },
  ],
  [
    'delay from mongos01 to shard02 by 1.5s',
    { verb: 'delay', link: { from: 'mongos01', to: 'shard02', bothWays: false }, by: 1500 },
  ],
  [
    'drop between mongos01 and shard02 only node.command, client.command first 10 with probability 0.1%',
    {
      verb: 'drop',
      link: { from: 'mongos01', to: 'shard02', bothWays: true },
      kinds: ['node.command', 'client.command'],
      first: 10,
      probability: 0.001,
    },
  ],
  ['refuse connections to shard02 from mongos01', { verb: 'refuse', link: { from: 'mongos01', to: 'shard02' } }],
  ['cut replies of mongos01 to clients', { verb: 'cut', link: { from: 'mongos01', to: 'clients' } }],
  [
    'hold at shard.migration.committing on shard01',
    { verb: 'hold', step: 'shard.migration.committing', target: 'shard01' },
  ],
  ['fail at shard.migration.committing first 1', { verb: 'fail', step: 'shard.migration.committing', first: 1 }],
  ['crash at shard.migration.committing', { verb: 'crashAt', step: 'shard.migration.committing' }],
]

t.test('a text and its data are the same fault, and it is written as it is read', async (t) => {
  for (const [text, data] of faults) {
    const spec = await parseFault(text)
    t.same(spec, await parseFault(data), text)
    t.same(await parseFault(formatFault(spec)), spec, `${text}, again`)
  }
  t.equal(formatFault(await parseFault('drop 5% between a and b')), 'drop between a and b with probability 5%')
})

t.test('times may be text in data, too; short forms fill in what is usual', async (t) => {
  t.same(await parseFault({ verb: 'crash', target: 'shard01', for: '90s' }), {
    verb: 'crash',
    target: 'shard01',
    for: 90_000,
  })
  t.same(await parseFault('at 2h crash shard01'), { verb: 'crash', target: 'shard01', after: 7_200_000 })
  t.match(await parseFault('partition shard01'), { link: { from: 'shard01', to: 'everybody', bothWays: true } })
  t.match(await parseFault('config unavailable for 1m'), {
    verb: 'refuse',
    link: { from: 'everybody', to: 'config' },
    for: 60_000,
  })
  t.match(await parseFault('  drop   5% between mongos01 and shard02   first 10 '), {
    verb: 'drop',
    probability: 0.05,
    first: 10,
  })
})

t.test('every form that is shown can be read', async (t) => {
  for (const form of faultForms) {
    await parseFault(form.replaceAll(/ ?\[.*?\]/g, ''))
    await parseFault(form.replaceAll(/\[|\]/g, ''))
  }
  t.ok(faultForms.length > 20)
})

t.test('what is not understood is said in one sentence', async (t) => {
  const wrong: readonly (readonly [FaultInput | string, RegExp])[] = [
    ['crach shard02', /'crach shard02' is no fault; one begins with crash, destroy, restart, /],
    ['crash', /is no fault|'crash' is not understood; write 'crash at .*' or 'crash shard02'/],
    ['slow shard02', /'slow shard02' is not understood; write 'slow disk of shard02 by 20ms' or 'slow shard02 by 10x'/],
    ['crash shard02 for ever', /is not understood; write .*'crash shard02', and behind it for, after, first/],
    ['slow shard02 by 1x', /the fault slow is wrong: factor: /],
    ['slow disk of shard02 by -5ms', /the fault slowDisk is wrong: by: a time must not be negative\.$/],
    ['crash shard02 first 3', /the fault crash is wrong: .*first/],
    ['drop 0% between a and b', /the fault drop is wrong: probability: /],
    [
      'limit between a and b to 10MB',
      /the fault limit is wrong: to: a rate is "10MB"; give bytes a second or a rate such as 64KB\/s/,
    ],
    ['limit between a and b to 0MB/s', /the fault limit is wrong: to: a rate is "0MB\/s"; give bytes a second/],
    ['drop between a and b with probability 200%', /probability: a probability is more than 0% and at most 100%\.$/],
    ['drop 5% between a and b with probability 5%', /says probability twice\.$/],
    ['crash shard02 for 5s for 6s', /^'crash shard02 for 5s for 6s' says how long it lasts twice\.$/],
    ['at 5s crash shard02 after 6s', /says when it begins twice\.$/],
    ['crash shard02 for 99999999999d', /for: a time is at most 36525d, 100 years\.$/],
    ['slow shard02 by 99999999999999999x', /factor: a factor is more than 1/],
    ['restart shard02 for 5s', /^the fault restart is wrong: it takes no for\.$/],
    ['delay between a and b by 40ms..20ms', /the shorter time comes first/],
    [
      'duplicate between a and b only node.command',
      /the fault duplicate is wrong: kinds: node\.command is no kind of message that this strikes; there are config\.commit-/,
    ],
    ['drop between a and b only nonsense', /the fault drop is wrong: kinds: nonsense is no kind/],
    [
      'drop between a and b only config.such',
      /config\.such is no kind of message that this strikes; there are (config\.[a-z-]+(, )?)+\.$/,
    ],
    [{ verb: 'crash' } as FaultInput, /the fault crash is wrong: target: /],
    [
      { verb: 'crash', target: 'shard01', for: 'long' },
      /the fault crash is wrong: for: a time is "long"; give milliseconds or a time such as 500ms/,
    ],
    [
      { verb: 'explode', target: 'shard01' } as unknown as FaultInput,
      /^"explode" is no verb of a fault; the verbs are crash, /,
    ],
    [{} as FaultInput, /^the fault has no verb; the verbs are crash, /],
    [null as unknown as FaultInput, /^a fault is a text such as 'crash shard02 for 5s', or data/],
    [
      { verb: 'refuse', link: { from: 'a', to: 'b', bothWays: true } } as unknown as FaultInput,
      /the fault refuse is wrong: link: .*bothWays/,
    ],
  ]
  for (const [fault, message] of wrong) {
    const error = await parseFault(fault).catch((thrown: unknown) => thrown)
    t.ok(error instanceof OptionError, JSON.stringify(fault))
    t.match((error as Error).message, message)
    t.notMatch((error as Error).message, /\n/)
  }
})
