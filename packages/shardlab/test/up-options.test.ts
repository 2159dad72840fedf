import t from 'tap'
import { readFileSync } from 'node:fs'
import { CommanderError } from 'commander'
import { clusterOptions } from '../src/commands/cluster-options.js'
import type { UpOptions } from '../src/commands/up-options.js'
import { createProgram } from '../src/program.js'

async function parse(
  ...args: string[]
): Promise<{ options: UpOptions | null; error: unknown; stdout: string; stderr: string }> {
  const seen = { options: null as UpOptions | null, error: undefined as unknown, stdout: '', stderr: '' }
  const program = createProgram({
    up: async (options) => {
      seen.options = options
    },
    load: async () => {},
    fault: async () => {},
    member: async () => {},
    rollbackFiles: async () => {},
    watch: async () => {},
    which: async () => {},
    doctor: async () => {},
    copy: async () => {},
    unique: async () => {},
    dashboard: async () => {},
    events: async () => {},
    explainBalance: async () => {},
    simulate: async () => {},
    worker: async () => {},
    swarm: async () => {},
    host: async () => {},
  })
  for (const command of [program, ...program.commands]) {
    command.configureOutput({
      ...command.configureOutput(),
      writeOut: (text) => (seen.stdout += text),
      writeErr: (text) => (seen.stderr += text),
    })
  }
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    seen.error = error
  }
  return seen
}

t.test('without options, up gets the defaults that --help shows', async (t) => {
  const { options, error, stderr } = await parse('up')
  t.equal(error, undefined)
  t.equal(stderr, '')
  t.strictSame({ ...options }, { initiate: true, port: 27017, host: '127.0.0.1', emulate: '7.0', runtime: 'threads' })
  t.strictSame(clusterOptions(options!), {
    port: 27017,
    host: '127.0.0.1',
    emulate: '7.0',
    runtime: 'threads',
  })
})

t.test('limits and parameters of up are those of the API', async (t) => {
  const { options } = await parse(
    ...['up', '--maxConns', '9', '--max-open-cursors', '8', '--max-request-memory', '1MB'],
    ...['--setParameter', 'maxSessions=7', '--setParameter', 'x=a=b', '--insecure'],
  )
  t.match(clusterOptions(options!), {
    insecure: true,
    limits: { maxIncomingConnections: 9, maxOpenCursors: 8, maxRequestMemory: '1MB' },
    setParameter: { maxSessions: '7', x: 'a=b' },
  })
})

t.test('with --from, up gets only the options that were typed, port and host', async (t) => {
  const cases: [string[], object][] = [
    [[], { port: 27017, host: '127.0.0.1' }],
    [['--port', '0', '--json'], { port: 0, host: '127.0.0.1' }],
    [['--emulate', '7.0', '--strict'], { port: 27017, host: '127.0.0.1', emulate: '7.0', strict: true }],
  ]
  for (const [args, expected] of cases) {
    const { options } = await parse('up', '--from', 'filled.snapshot', ...args)
    t.strictSame(clusterOptions(options!), { ...expected, from: 'filled.snapshot' }, args.join(' '))
  }
})

t.test('every option is passed to the cluster under its own name', async (t) => {
  const cases: [string[], string, unknown][] = [
    [['--shards', '5'], 'shards', 5],
    [['--shards=5'], 'shards', 5],
    [['--mongos', '2'], 'mongos', 2],
    [['--port', '0'], 'port', 0],
    [['--port', '27117'], 'port', 27117],
    [['--host', '::1'], 'host', '::1'],
    [['--emulate', '6.0.2'], 'emulate', '6.0.2'],
    [['--chunk-size', '64KB'], 'chunkSize', '64KB'],
    [['--runtime', 'inline'], 'runtime', 'inline'],
    [['--hosts', '2'], 'hosts', 2],
    [['--native-wire'], 'nativeWire', true],
    [['--strict'], 'strict', true],
    [['--server-timings'], 'serverTimings', true],
    [['--seed', '7'], 'seed', 7],
    [['--disk-size', '1GB'], 'diskSize', '1GB'],
    [['--balancer-round-interval', '2s'], 'balancerRoundIntervalMs', 2000],
    [['--find-replica-set-host-timeout', '500ms'], 'findReplicaSetHostTimeoutMs', 500],
    [['--network-timeout', '1m'], 'networkTimeoutMs', 60_000],
  ]
  const defaults = clusterOptions((await parse('up')).options!)
  for (const [args, name, value] of cases) {
    const { options } = await parse('up', ...args)
    t.strictSame(clusterOptions(options!), { ...defaults, [name]: value }, args.join(' '))
  }
})

t.test('--json, --quiet and --exit-with-parent are not passed to the cluster', async (t) => {
  const { options } = await parse('up', '--json', '--quiet', '--exit-with-parent')
  t.match(options, { json: true, quiet: true, exitWithParent: true })
  t.notMatch(Object.keys(clusterOptions(options!)).join(), /json|quiet|exit/)
})

t.test('of an option given twice, the last one counts', async (t) => {
  t.equal((await parse('up', '--shards', '1', '--shards', '2')).options!.shards, 2)
})

t.test('wrong usage is one sentence on standard error, and up does not run', async (t) => {
  const number = (option: string, text: string): string =>
    `option '${option}' argument '${text}' is invalid: it must be a whole number`
  const cases: [string[], string][] = [
    [['up', '--xyzzyxyzzy'], "unknown option '--xyzzyxyzzy'"],
    [['up', '--share', '3'], "unknown option '--share'. Did you mean --shards?"],
    [['up', '--json=3'], "unknown option '--json=3'. Did you mean --json?"],
    [['up', '--port'], "option '--port <p>' argument missing"],
    [['up', 'extra'], "too many arguments for 'up': expected 0 arguments but got 1"],
    [['flap'], "unknown command 'flap'"],
    ...['', 'x', '-1', '+1', '1.5', '1e3', '0x10', ' 1', '1 ', '1234567890123456'].map((text): [string[], string] => [
      ['up', '--port', text],
      number('--port <p>', text),
    ]),
    [['up', '--shards', 'many'], number('--shards <n>', 'many')],
    [['up', '--mongos', 'two'], number('--mongos <n>', 'two')],
    [['up', '--hosts', 'all'], number('--hosts <n>', 'all')],
    [
      ['up', '--chunk-size', '64'],
      "option '--chunk-size <size>' argument '64' is invalid: it must have a unit, such as 64KB or 64MB",
    ],
    [
      ['up', '--network-timeout', '5'],
      "option '--network-timeout <time>' argument '5' is invalid: it must have a unit, such as 5ms or 5s",
    ],
  ]
  for (const [args, message] of cases) {
    const { options, error, stdout, stderr } = await parse(...args)
    t.equal(stderr, `shardlab: ${message} (run with --help for the options).\n`)
    t.ok(error instanceof CommanderError && error.exitCode !== 0, args.join(' '))
    t.equal(options, null)
    t.equal(stdout, '')
  }
})

t.test('--help and --version are not errors', async (t) => {
  const help = await parse('up', '--help')
  t.equal((help.error as CommanderError).exitCode, 0)
  t.match(help.stdout, /Examples:/)
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  const shown = await parse('--version')
  t.equal((shown.error as CommanderError).exitCode, 0)
  t.equal(shown.stdout, `${version}\n`)
})

t.test('--help describes every option', async (t) => {
  const { stdout } = await parse('up', '--help')
  for (const option of 'shards mongos port host emulate chunk-size runtime hosts native-wire server-timings strict seed disk-size balancer-round-interval find-replica-set-host-timeout network-timeout exit-with-parent from json quiet'.split(
    ' ',
  )) {
    t.ok(stdout.includes(`--${option} `), option)
  }
})
