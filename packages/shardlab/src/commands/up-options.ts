import type { Command } from 'commander'
import { addTlsFlags, type TlsFlags } from './tls-flags.js'
import { describe } from './help-text.js'
import { addLimitFlags, type LimitFlags } from './limit-flags.js'
import { addNatsFlags, type NatsFlags } from './nats-flags.js'
import { milliseconds, names, portNumber, seed, size, wholeNumber } from './argument-parsers.js'

/** With `from`, `dbpath` or `nats`, options that were not typed are absent. */
export interface UpOptions extends TlsFlags, LimitFlags, NatsFlags {
  readonly machines?: readonly string[]
  /** Texts such as `config=H1,H2`. */
  readonly place?: readonly string[]
  readonly topology?: string
  readonly topologyFile?: string
  readonly members?: number
  readonly setName?: string
  /** false: `--no-initiate`. */
  readonly initiate?: boolean
  readonly shards?: number
  readonly standby?: readonly string[]
  readonly mongos?: number
  readonly port: number
  readonly host: string
  readonly insecure?: true
  readonly emulate?: string
  readonly chunkSize?: string
  readonly runtime?: string
  readonly hosts?: number
  readonly seed?: number
  readonly oplogSize?: string
  readonly diskSize?: string
  /** Directory of the data. */
  readonly dbpath?: string
  /** Milliseconds. */
  readonly balancerRoundInterval?: number
  /** Milliseconds. */
  readonly findReplicaSetHostTimeout?: number
  readonly periodicNoopIntervalSecs?: number
  /** Milliseconds. */
  readonly networkTimeout?: number
  readonly nativeWire?: true
  readonly serverTimings?: true
  readonly autoSplit?: true
  readonly auth?: true
  readonly strict?: true
  /** Path of a snapshot. */
  readonly from?: string
  readonly clock?: string
  /** Folder of a dump. */
  readonly import?: string
  /** Folder for a dump. */
  readonly exportOnExit?: string
  /** Port of the HTTP control. Absent: none. */
  readonly controlPort?: number
  /** true: any free port. */
  readonly dashboard?: number | true
  readonly exitWithParent?: true
  readonly json?: true
  readonly quiet?: true
}

export function addUpCommand(program: Command, run: (options: UpOptions) => Promise<void>): void {
  const command = describe(
    program.command('up'),
    'Start a cluster and keep it running until SIGINT or SIGTERM.',
    `  shardlab up                                three shards on port 27017
  shardlab up --shards 5 --port 27117        five shards on another port
  shardlab up --json --port 0                for programs: the first line is {"ready":true,"uri":…}`,
  )
  command
    .optionsGroup('Members:')
    .option('--topology <t>', 'sharded (default); replica-set: one set; standalone: one mongod')
    .option('--shards <n>', 'number of shards (default: 3)', wholeNumber)
    .option('--members <n>', 'members of each set, 1 to 7 (default: 1; of a replica set: 3)', wholeNumber)
    .option('--mongos <n>', 'number of mongoses (default: 1)', wholeNumber)
    .option('--standby <names>', 'replica sets that sh.addShard can add later, such as rs0,rs1', names)
    .option('--set-name <name>', 'name of a replica set (default: rs0)')
    .option('--no-initiate', 'do not initiate the replica set, or the --standby sets')
    .option('--topology-file <file>', 'YAML file: priorities, arbiters, delays and tags of members')
    .optionsGroup('Address:')
    .option('--port <p>', 'first port, the others follow; 0: any free', wholeNumber, 27017)
    .option('--host <h>', 'address to listen on', '127.0.0.1')
    .option('--insecure', 'let other machines connect without a user')
    .optionsGroup('Server version:')
    .option('--emulate <v>', '2.6, 4.0, 4.4, 5.0, 6.0.2, 6.0, 7.0 or 8.0', '7.0')
    .option('--native-wire', 'announce its real wire versions: current drivers refuse old ones')
    .option('--auto-split', 'split chunks as they grow, as servers did until 6.0.2')
    .option('--strict', 'refuse commands that Shardlab supports only in part')
    .optionsGroup('Data:')
    .option('--dbpath <dir>', 'keep the data here, and continue with it (default: in memory)')
    .option('--import <folder>', 'start with a dump of mongodump or --export-on-exit')
    .option('--export-on-exit <folder>', 'at the end, write all collections as mongodump does')
    .option('--from <file>', 'start from a snapshot file, which determines most options')
    .option('--chunk-size <size>', "such as 64KB or 128MB (default: the version's)", size)
    .option('--oplog-size <size>', 'oplog of each member (default: 4MB; 16MB in sets of several)', size)
    .option('--disk-size <size>', 'disk of each shard and of the config server (default: 2GB)', size)
    .optionsGroup('Observe and control:')
    .option('--dashboard [port]', 'web page (default: any free port); with --auth, it has a login', portNumber)
    .option('--control-port <p>', 'HTTP control: copies, faults, time; 0: any free port', portNumber)
    .option('--seed <n>', 'seed of every random decision (default: drawn at the start)', seed)
    .option('--clock <c>', 'real; manual: time passes on request; needs --runtime inline')
    .optionsGroup('Process:')
    .option('--json', 'print one JSON object as the first line instead of text')
    .option('--quiet', 'print only errors, and with --json the JSON object')
    .option('--exit-with-parent', 'end when the program that started it ends or closes its stdin')
    .option('--runtime <r>', 'threads: worker threads; inline: one thread', 'threads')
    .option('--hosts <n>', 'number of worker threads (default: cores - 1, from 1 to 4)', wholeNumber)
  addNatsFlags(
    command.optionsGroup('Members on several machines:'),
    'server that connects the hosts, as nats://host:4222',
  )
    .option('--machines <names>', 'hosts that run the members, such as H1,H2', names)
    .option('--place <places...>', 'such as mongos=H1 config=H2,H3; also shards, balancer, names of members')
  addTlsFlags(
    command.optionsGroup('Users and TLS:').option('--auth', 'clients need a user; this machine creates the first one'),
  )
  addLimitFlags(command.optionsGroup('Limits and parameters of each member:'))
    .optionsGroup('Timing:')
    .option('--server-timings', "use the server's timings instead of shorter ones")
    .option('--balancer-round-interval <time>', 'pause between rounds of the balancer (default: 1s)', milliseconds)
    .option(
      '--find-replica-set-host-timeout <time>',
      'search for the primary of a down shard (default: 15s)',
      milliseconds,
    )
    .option('--network-timeout <time>', 'close a silent link between members (default: 10s)', milliseconds)
    .option('--periodic-noop-interval-secs <n>', 'delay change streams by idle shards, 1 to 10 s', wholeNumber)
    .optionsGroup('Help:')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
More examples:
  shardlab up --topology replica-set           one replica set of three members
  shardlab up --topology standalone            one mongod without a replica set
  shardlab up --shards 2 --members 3           shards that fail over
  shardlab up --shards 0 --standby rs0,rs1     no shards yet: add them with sh.addShard
  shardlab up --emulate 4.4 --chunk-size 64KB  an older server with small chunks
  shardlab up --dashboard                      with a web page about the cluster
  shardlab up --dbpath data                    a cluster that keeps its data
  shardlab up --import dump                    a cluster filled from a dump
  shardlab up --nats nats://h:4222 --machines H1,H2    members on two machines
  shardlab up --json --port 0 --exit-with-parent                   for test harnesses
  shardlab up --json --port 0 --runtime inline --control-port 0    with HTTP control
  shardlab up --tlsMode requireTLS --tlsCertificateKeyFile server.pem

Exit codes:
  0    ended by a signal
  1    the export at the end failed
  2    wrong usage, or a port in use
  3    internal error`,
    )
    .action((options: UpOptions, command: Command) => {
      const { from, dbpath, nats } = options
      return run(from === undefined && dbpath === undefined && nats === undefined ? options : typed(options, command))
    })
}

/** The options without defaults that would contradict the snapshot, the directory or the hosts. */
function typed(options: UpOptions, command: Command): UpOptions {
  const isOwn = ([name]: [string, unknown]): boolean =>
    name === 'port' || name === 'host' || name.startsWith('tls') || command.getOptionValueSource(name) !== 'default'
  return Object.fromEntries(Object.entries(options).filter(isOwn)) as unknown as UpOptions
}
