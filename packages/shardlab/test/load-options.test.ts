import t from 'tap'
import { Command, CommanderError } from 'commander'
import { lineOf } from '../src/commands/load-line.js'
import { addLoadCommand, type LoadCommandOptions } from '../src/commands/load-options.js'
import { wordsOf } from '../src/commands/start-up.js'

async function parse(...args: string[]): Promise<LoadCommandOptions> {
  let seen: LoadCommandOptions | null = null
  const program = new Command('shardlab').exitOverride().configureOutput({ writeErr: () => {} })
  addLoadCommand(program, async (options) => {
    seen = options
  })
  for (const command of program.commands) command.copyInheritedSettings(program)
  await program.parseAsync(['load', ...args], { from: 'user' })
  return seen!
}

t.test('load passes its options with their types', async (t) => {
  t.same(await parse('--uri', 'mongodb://h/'), { uri: 'mongodb://h/', check: true })
  t.match(
    await parse(
      '--up',
      '--shards 2',
      '--rate',
      '100..5000',
      '--concurrency',
      '8',
      '--duration',
      '500ms',
      '--warm-up',
      '2m',
      '--no-check',
      '--json',
    ),
    {
      ...{
        up: '--shards 2',
        rate: { from: 100, to: 5000 },
        concurrency: 8,
        duration: 0.5,
        warmUp: 120,
        check: false,
        json: true,
      },
    },
  )
  t.match(await parse('--uri', 'x', '--expect', 'a', '--expect', 'b', '--fault', 'c', '--json', 'r.json'), {
    expect: ['a', 'b'],
    fault: ['c'],
    json: 'r.json',
  })
  t.same((await parse('--compare', 'a.json', 'b.json')).compare, ['a.json', 'b.json'])
  for (const args of [['--rate', 'fast'], ['--duration', '3 days'], ['--records', '1.5'], ['--wings'], ['more']]) {
    await t.rejects(parse(...args), CommanderError, args.join(' '))
  }
})

t.test('the text of --up is split at spaces, except between quotes', async (t) => {
  t.same(wordsOf(`  --shards 2 --host "a b" --emulate '4.4'`), ['--shards', '2', '--host', 'a b', '--emulate', '4.4'])
  t.same(wordsOf(''), [])
})

t.test('the progress line has counts, rate, latency and errors', async (t) => {
  const progress = {
    phase: 'run',
    done: 12_000,
    total: 50_000,
    perSecond: 4012,
    errors: 3,
    p99Us: 3149,
    step: null,
  } as const
  t.equal(lineOf(progress), 'run 12,000 of 50,000 · 4,012 a second · p99 3.1 ms · 3 errors')
  t.equal(
    lineOf({ ...progress, phase: 'load', total: null, p99Us: null, step: 'shards=4' }),
    'shards=4 load 12,000 · 4,012 a second',
  )
})
