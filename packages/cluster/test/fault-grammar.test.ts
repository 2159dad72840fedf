import t from 'tap'
import { faultForms, faultVerbs, formatFault, OptionError, parseFault, type FaultInput } from '../src/index.js'
import { Phrase } from '../src/faults/phrase.js'

/** At least one fault of each verb. */
const faults: readonly (readonly [string, FaultInput])[] = [
  ['crash shard02 for 5s', { verb: 'crash', target: 'shard02', for: '5000ms' }],
  ['destroy shard02', { verb: 'destroy', target: 'shard02' }],
  ['restart mongos01', { verb: 'restart', target: 'mongos01' }],
  ['stop shard02 after 2h', { verb: 'stop', target: 'shard02', after: '2h' }],
  ['pause shard02', { verb: 'pause', target: 'shard02' }],
  ['resume shard02', { verb: 'resume', target: 'shard02' }],
  ['step down shard02 for 10s', { verb: 'stepDown', target: 'shard02', for: '10000ms' }],
  ['slow shard01 by 10x', { verb: 'slow', target: 'shard01', factor: 10 }],
  ['slow disk of shard01 by 20ms', { verb: 'slowDisk', target: 'shard01', by: '20ms' }],
  ['fill disk of shard01', { verb: 'fullDisk', target: 'shard01' }],
  ['skew clock of shard01 by -2h', { verb: 'skewClock', target: 'shard01', by: '-7200000ms' }],
  ['jump clock of shard01 by -2h', { verb: 'jumpClock', target: 'shard01', by: '-7200000ms' }],
  [
    'limit between mongos01 and shard02 to 10MB/s',
    { verb: 'limit', link: { from: 'mongos01', to: 'shard02', bothWays: true }, to: '10MB/s' },
  ],
  [
    'limit from shard01 to shard02 to 1000B/s for 1m',
    { verb: 'limit', link: { from: 'shard01', to: 'shard02', bothWays: false }, to: '1000B/s', for: '60000ms' },
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
      by: '20ms',
      upTo: '40ms',
      probability: 0.5,
      seed: 7,
    },
  ],
  [
    'delay from mongos01 to shard02 by 1.5s',
    { verb: 'delay', link: { from: 'mongos01', to: 'shard02', bothWays: false }, by: '1500ms' },
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
  ['delay replication of shard01-2 by 10s', { verb: 'delayReplication', target: 'shard01-2', by: '10000ms' }],
  ['shrink oplog of shard01 to 100KB', { verb: 'shrinkOplog', target: 'shard01', to: '102400B' }],
  ['crash the primary of shard02', { verb: 'crash', target: 'the primary of shard02' }],
  ['pause a secondary of shard02 for 5s', { verb: 'pause', target: 'a secondary of shard02', for: '5s' }],
  ['slow the secondaries of shard02 by 10x', { verb: 'slow', target: 'the secondaries of shard02', factor: 10 }],
  [
    'partition the primary of shard02 from the secondaries of shard02',
    {
      verb: 'partition',
      link: { from: 'the primary of shard02', to: 'the secondaries of shard02', bothWays: true },
    },
  ],
  [
    'delay from mongos01 to a secondary of shard02 by 20ms',
    { verb: 'delay', link: { from: 'mongos01', to: 'a secondary of shard02', bothWays: false }, by: '20ms' },
  ],
  [
    'hold at shard.migration.committing on the primary of shard01 first 1',
    { verb: 'hold', step: 'shard.migration.committing', target: 'the primary of shard01', first: 1 },
  ],
]

t.test('every verb has a text in this file', async (t) => {
  t.same(new Set(faults.map(([, { verb }]) => verb)), new Set(faultVerbs))
})

t.test('a text and its data are the same fault, and the formatted fault is parsed to the same data', async (t) => {
  for (const [text, data] of faults) {
    const spec = await parseFault(text)
    t.same(spec, await parseFault(data), text)
    t.same(await parseFault(formatFault(spec)), spec, `${text}, again`)
  }
  t.equal(formatFault(await parseFault('drop 5% between a and b')), 'drop between a and b with probability 5%')
})

t.test('data may contain times as text, and omitted parts of a text have defaults', async (t) => {
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

t.test('every form that help texts show is parsed, with and without its optional parts', async (t) => {
  for (const form of faultForms) {
    await parseFault(form.replaceAll(/ ?\[.*?\]/g, ''))
    await parseFault(form.replaceAll(/\[|\]/g, ''))
  }
  t.ok(faultForms.length > 20)
})

t.test('the error of an invalid fault is one sentence with the place, the problem and what to write', async (t) => {
  const wrong: readonly (readonly [FaultInput | string, RegExp])[] = [
    ['crach shard02', /^cannot read the fault 'crach shard02': did you mean 'crash shard02'\?$/],
    ['Crash shard02 for 5s', /: did you mean 'crash shard02 for 5s'\?$/],
    ['drop between a and b with probabilty 5%', /: did you mean 'drop between a and b with probability 5%'\?$/],
    ['crash shard02 fro 5s', /: did you mean 'crash shard02 for 5s'\?$/],
    ['partition a form b', /: did you mean 'partition a from b'\?$/],
    ['crach shrad02 fro 5s', /: write 'crash shard02' or 'crash at .*', followed by any of for, /],
    ['stepDown shard02', /: write 'step down shard02', followed by any of for, /],
    [
      'explode shard02',
      /^unknown fault 'explode shard02': a fault begins with one of crash, destroy, restart, .*, hold, fail, shrink\.$/,
    ],
    [
      'crash',
      /^cannot read the fault 'crash': write 'crash shard02' or 'crash at .*', followed by any of for, after, /,
    ],
    [
      'slow shard02',
      /^cannot read the fault 'slow shard02': write 'slow shard02 by 10x' or 'slow disk of shard02 by 20ms'/,
    ],
    [
      'crash shard02 soon',
      /write 'crash shard02' or .*, followed by any of for, after, first, only, with probability and seed\.$/,
    ],
    [
      'crash shard02 for ever',
      /^cannot read the fault 'crash shard02 for ever': 'for ever' must be a time such as 500ms, 5s, 10m, 2h or 1d\.$/,
    ],
    ['crash shard02 for 5 seconds', /'for 5 seconds' must be a time such as 5s\.$/],
    ['crash shard02 after 5 for 1s', /'after 5' must have a unit, such as 5ms or 5s\.$/],
    ['at 2 hours crash shard02', /'at 2 hours crash shard02' must be a time such as/],
    ['delay between mongos01 and shard02 by 20..40ms', /'by 20\.\.40ms' must have a unit, such as 20ms or 20s\.$/],
    ['slow shard02 by 1x', /^invalid fault slow: factor must be more than 1, such as 10x\.$/],
    ['slow disk of shard02 by -5ms', /^invalid fault slowDisk: by must not be negative\.$/],
    ['crash shard02 first 3', /^invalid fault crash: it takes no first\.$/],
    ['drop 0% between a and b', /^invalid fault drop: probability must be more than 0% and at most 100%\.$/],
    ['limit between a and b to 10MB', /^invalid fault limit: to must be a rate such as 64KB\/s or 10MB\/s\.$/],
    ['limit between a and b to 0MB/s', /^invalid fault limit: to must be a rate such as/],
    ['drop between a and b with probability 200%', /probability must be more than 0% and at most 100%\.$/],
    ['drop 5% between a and b with probability 5%', / gives its probability twice: keep one\.$/],
    [
      'crash shard02 for 5s for 6s',
      /^the fault 'crash shard02 for 5s for 6s' gives its duration \('for'\) twice: keep one\.$/,
    ],
    ['at 5s crash shard02 after 6s', / gives its start \('at' or 'after'\) twice: keep one\.$/],
    ['crash shard02 for 99999999999d', /for must be at most 36525d, 100 years\.$/],
    ['slow shard02 by 99999999999999999x', /factor must be more than 1/],
    ['restart shard02 for 5s', /^invalid fault restart: it takes no for\.$/],
    [
      'delay between a and b by 40ms..20ms',
      /^invalid fault delay: the shorter time must come first, as in 20ms\.\.40ms\.$/,
    ],
    [
      'duplicate between a and b only node.command',
      /^invalid fault duplicate: kinds must not contain node\.command; use config\.commit-/,
    ],
    ['drop between a and b only nonsense', /^invalid fault drop: kinds must not contain nonsense; use [a-z]/],
    ['drop between a and b only config.such', /kinds must not contain config\.such; use (config\.[a-z-]+(, )?)+\.$/],
    ['drop between a and b only nod.command', /kinds must not contain nod\.command; did you mean node\.command\?$/],
    [{ verb: 'Crash' } as unknown as FaultInput, /^unknown fault verb: "Crash"; did you mean crash\?$/],
    [{ verb: 'crash', traget: 'a' } as unknown as FaultInput, /crash: it takes no traget; did you mean target\?$/],
    [
      { verb: 'drop', link: { from: 'a', to: 'b', bothways: true } } as unknown as FaultInput,
      /^invalid fault drop: link takes no bothways; did you mean bothWays\?$/,
    ],
    [{ verb: 'crash' } as FaultInput, /^invalid fault crash: target must be a name\.$/],
    [{ verb: 'crash', target: 'shard01', for: 'long' }, /^invalid fault crash: for must be a time such as 500ms/],
    [
      { verb: 'crash', target: 'shard01', for: 5 } as unknown as FaultInput,
      /^invalid fault crash: for must have a unit, such as 5ms or 5s\.$/,
    ],
    [{ verb: 'explode', target: 'shard01' } as unknown as FaultInput, /^unknown fault verb: "explode"; use crash, /],
    [{} as FaultInput, /^invalid fault: verb is missing; use crash, /],
    [null as unknown as FaultInput, /^invalid fault: give a text such as 'crash shard02 for 5s', or data/],
    [
      { verb: 'refuse', link: { from: 'a', to: 'b', bothWays: true } } as unknown as FaultInput,
      /^invalid fault refuse: link takes no bothWays\.$/,
    ],
  ]
  for (const [fault, message] of wrong) {
    const error = await parseFault(fault).catch((thrown: unknown) => thrown)
    t.ok(error instanceof OptionError, JSON.stringify(fault))
    t.match((error as Error).message, message)
    t.notMatch((error as Error).message, /\n/)
  }
})

t.test('a phrase yields its example, its grammar, its title, a parser and a formatter', async (t) => {
  const phrase = new Phrase('delay[ {percent=5%}] {link=between a and b} by {by=20ms}[..{upTo=40ms}]')
  t.equal(phrase.usage, 'delay [5%] between a and b by 20ms[..40ms]')
  t.equal(phrase.grammar, 'delay [ N"%" ] link by TIME [ ".." TIME ]')
  t.equal(phrase.title, 'delay')
  t.same(phrase.read('delay from a to b by 1s..2s'), {
    link: { from: 'a', to: 'b', bothWays: false },
    by: '1s',
    upTo: '2s',
  })
  t.equal(phrase.read('delay a'), null)
  const link = { from: 'a', to: 'b', bothWays: true }
  t.equal(phrase.write({ link, by: 1000 }), 'delay between a and b by 1s')
  t.equal(phrase.write({ link, by: 20, upTo: 40 }), 'delay between a and b by 20ms..40ms')
  t.equal(new Phrase('slow disk of {target=shard02} by {by=20ms}').title, 'slow disk')
})
