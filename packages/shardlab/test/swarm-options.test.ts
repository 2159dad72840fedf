import t from 'tap'
import { Command, CommanderError } from 'commander'
import type { SwarmReport } from '@shardlab/scenario'
import { jsonOf, swarm } from '../src/commands/swarm.js'
import { addSwarmCommand, type SwarmCommandOptions } from '../src/commands/swarm-options.js'
import { worker } from '../src/commands/worker.js'

async function parse(...args: string[]): Promise<SwarmCommandOptions> {
  let seen: SwarmCommandOptions | null = null
  const program = new Command('shardlab').exitOverride().configureOutput({ writeErr: () => {} })
  addSwarmCommand(program, async (options) => {
    seen = options
  })
  for (const command of program.commands) command.copyInheritedSettings(program)
  await program.parseAsync(['swarm', ...args], { from: 'user' })
  return seen!
}

t.test('swarm passes its options with their types and refuses wrong ones', async (t) => {
  t.same(await parse(), {})
  t.same(await parse('--runs', '500', '--seed', '0', '--minutes', '0.5', '--json'), {
    runs: 500,
    seed: 0,
    minutes: 0.5,
    json: true,
  })
  t.same(await parse('--without', 'crash', 'drop', '--mutation', 'retryDedupeOff', '--json', 'r.json'), {
    without: ['crash', 'drop'],
    mutation: 'retryDedupeOff',
    json: 'r.json',
  })
  const limits = [
    '--clients',
    '1',
    '--steps',
    '6',
    '--shards',
    '2',
    '--mongos',
    '1',
    '--members',
    '3',
    '--report',
    'r.html',
  ]
  t.same(await parse(...limits), { clients: 1, steps: 6, shards: 2, mongos: 1, members: 3, report: 'r.html' })
  t.same(await parse('--nats', 'nats://build1', '--job', 'night', '--nats-tls-ca', 'ca.pem'), {
    nats: 'nats://build1',
    job: 'night',
    natsTlsCa: 'ca.pem',
  })
  for (const args of [
    ['--runs', '0'],
    ['--steps', '0'],
    ['--runs', 'many'],
    ['--seed', '-1'],
    ['--seed', '1.5'],
    ['--minutes', '0'],
    ['--wings'],
    ['more'],
  ])
    await t.rejects(parse(...args), CommanderError, args.join(' '))
})

t.test('the JSON of a swarm has the replay command and the timeline of each failure', async (t) => {
  const timeline = [
    { atMs: 5, kind: 'command', from: 'mongos01', to: null, ns: 'app.c', text: 'insert' },
    { atMs: 9, kind: 'violation', from: 'mongos01', to: null, ns: 'app.c', text: 'conservation: 7 is gone' },
  ]
  const failed = [{ seed: 7, replay: 'shardlab swarm --seed 7 --runs 1', timeline }]
  const report = { runs: 1, failed, traceHashes: { 7: 'ab' }, coverage: { missing: [] } } as unknown as SwarmReport
  t.same(JSON.parse(jsonOf(report)), { runs: 1, failed, traceHashes: { 7: 'ab' }, coverage: { missing: [] } })
})

t.test('options of NATS without its address are refused', async (t) => {
  for (const flags of [{ job: 'night' }, { natsCreds: 'file' }])
    await t.rejects(swarm({ runs: 1, ...flags }), {
      name: 'OptionError',
      message: '--job and the options of NATS need --nats with the address of the server',
    })
  await t.rejects(worker({}), { name: 'OptionError', message: /^worker needs --nats with the address of the server/ })
})
