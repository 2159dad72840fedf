import type { Command } from 'commander'
import { addTlsFlags, type TlsFlags } from './tls-flags.js'
import { addLimitFlags, type LimitFlags } from './limit-flags.js'
import { milliseconds, names, portNumber, seed, size, wholeNumber } from './argument-parsers.js'

/** With `from`, options that were not typed are absent. */
export interface UpOptions extends TlsFlags, LimitFlags {
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
  const command = program
    .command('up')
    .description('Start a cluster and keep it running until SIGINT or SIGTERM.')
    .option(
      '--topology <t>',
      'sharded (default); replica-set: one set without sharding; standalone: one mongod without a set',
    )
    .option('--topology-file <file>', 'YAML file with the members of each set: priorities, arbiters, delays, tags')
    .option(
      '--members <n>',
      'members of each shard and of the config server (default: 1), or of a replica set (default: 3), up to 7',
      wholeNumber,
    )
    .option('--set-name <name>', 'name of a replica set (default: rs0)')
    .option('--no-initiate', 'members of the replica set, or of --standby sets, wait for rs.initiate()')
    .option('--shards <n>', 'number of shards (default: 3)', wholeNumber)
    .option('--standby <names>', 'replica sets to start that addShard can add, such as rs0,rs1', names)
    .option('--mongos <n>', 'number of mongoses (default: 1)', wholeNumber)
    .option(
      '--port <p>',
      'port of the first mongos or member; the others listen on the following ones; 0: any free ports',
      wholeNumber,
      27017,
    )
    .option('--host <h>', 'address to listen on', '127.0.0.1')
    .option('--insecure', 'other machines may connect by --host without a user')
    .option('--emulate <v>', 'server version to emulate: 2.6, 4.0, 4.4, 5.0, 6.0.2, 6.0, 7.0 or 8.0', '7.0')
    .option('--chunk-size <size>', "chunk size such as 64KB or 128MB, at least 1KB (default: the version's)", size)
    .option('--oplog-size <size>', 'oplog of each member (default: 4MB, in sets of several members 16MB)', size)
    .option('--disk-size <size>', 'disk of each shard and of the config server, at least 1MB (default: 2GB)', size)
    .option(
      '--dbpath <dir>',
      'keep the data in this directory, and continue with what it holds (default: data is in memory)',
    )
    .option('--seed <n>', 'seed of every random decision (default: drawn at the start)', seed)
    .option('--balancer-round-interval <time>', 'pause between rounds of the balancer (default: 1s)', milliseconds)
    .option(
      '--find-replica-set-host-timeout <time>',
      'how long members look for the primary of a shard that is down (default: 15s)',
      milliseconds,
    )
    .option(
      '--periodic-noop-interval-secs <n>',
      'change streams wait for no-ops that idle shards write so often, 1 to 10 (default: they are not delayed)',
      wholeNumber,
    )
    .option(
      '--network-timeout <time>',
      'members close a link on which nothing has arrived for this time (default: 10s)',
      milliseconds,
    )
    .option('--runtime <r>', 'threads: actors on worker threads; inline: all in one thread', 'threads')
    .option(
      '--hosts <n>',
      'worker threads that share the members; 64: one for each member (default: cores - 1, from 1 to 4)',
      wholeNumber,
    )
  addLimitFlags(addTlsFlags(command))
    .option('--native-wire', "announce the version's real wire versions, so that current drivers refuse old versions")
    .option('--server-timings', "use the server's timings instead of shorter ones")
    .option('--auto-split', 'split chunks while they grow and move the last one, as servers did until 6.0.2')
    .option('--auth', 'clients need a user with privileges; the first one is created from this machine')
    .option('--strict', 'refuse commands, stages and operators whose results would silently lack something')
    .option(
      '--from <file>',
      'start from a snapshot file of the API; it determines all options except --port, --host, --insecure and --tls…',
    )
    .option(
      '--import <folder>',
      'start with the collections of a folder that mongodump or --export-on-exit has written',
    )
    .option(
      '--export-on-exit <folder>',
      'write what the cluster holds into a folder, as mongodump does, before it ends',
    )
    .option('--clock <c>', 'real, or manual: time passes by --control-port or --dashboard; needs --runtime inline')
    .option(
      '--control-port <p>',
      'HTTP control on this machine: forks, snapshots, faults, time; 0: any free port',
      portNumber,
    )
    .option(
      '--dashboard [port]',
      'serve a web page about the cluster on this machine (default: any free port); not with --auth',
      portNumber,
    )
    .option(
      '--exit-with-parent',
      'end when the program that started it ends or closes standard input: for test harnesses',
    )
    .option('--json', 'print one JSON object as the first line instead of text')
    .option('--quiet', 'print only errors, and with --json the JSON object')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Exit codes: 0 ended by a signal; 1 the export at the end failed; 2 wrong usage, or a port in use; 3 internal error.

Examples:
  shardlab up                                  three shards on port 27017
  shardlab up --port 27117 --shards 5          five shards on another port
  shardlab up --json --port 0 --exit-with-parent  for programs: the first line is {"ready":true,"uri":…}
  shardlab up --json --port 0 --runtime inline --control-port 0   with HTTP control, for tests in any language
  shardlab up --emulate 4.4 --chunk-size 64KB  an older server with small chunks
  shardlab up --shards 0 --standby rs0,rs1     no shards yet: add them with sh.addShard
  shardlab up --topology replica-set           one replica set of three members
  shardlab up --topology standalone            one mongod without a replica set
  shardlab up --shards 2 --members 3           shards that fail over
  shardlab up --from filled.snapshot           a cluster with the data of a snapshot
  shardlab up --dbpath data                    a cluster that keeps its data
  shardlab up --import data --export-on-exit data   keep the data between two runs
  shardlab up --tlsMode requireTLS --tlsCertificateKeyFile server.pem   clients connect by TLS`,
    )
    .action((options: UpOptions, command: Command) =>
      run(options.from === undefined && options.dbpath === undefined ? options : typed(options, command)),
    )
}

/** The options without defaults that would contradict the snapshot or the directory. */
function typed(options: UpOptions, command: Command): UpOptions {
  const isOwn = ([name]: [string, unknown]): boolean =>
    name === 'port' || name === 'host' || name.startsWith('tls') || command.getOptionValueSource(name) !== 'default'
  return Object.fromEntries(Object.entries(options).filter(isOwn)) as unknown as UpOptions
}
