import type { Command } from 'commander'
import { wholeNumber } from './argument-parsers.js'

/** Options of `up` as commander parses them. With `from`, those that were not typed are missing. */
export interface UpOptions {
  readonly shards?: number
  readonly mongos?: number
  readonly port: number
  readonly host: string
  readonly emulate?: string
  readonly chunkSize?: string
  readonly runtime?: string
  readonly hosts?: number
  readonly nativeWire?: true
  readonly serverTimings?: true
  readonly strict?: true
  /** Path of a snapshot. */
  readonly from?: string
  readonly json?: true
  readonly quiet?: true
}

/** Adds `up` to the program; `run` gets its options. */
export function addUpCommand(program: Command, run: (options: UpOptions) => Promise<void>): void {
  program
    .command('up')
    .description('Start a cluster and keep it running until SIGINT or SIGTERM.')
    .option('--shards <n>', 'number of shards', wholeNumber, 3)
    .option('--mongos <n>', 'number of mongoses', wholeNumber, 1)
    .option(
      '--port <p>',
      'port of the first mongos, the others take the next ones; 0: any free ports',
      wholeNumber,
      27017,
    )
    .option('--host <h>', 'address to listen on', '127.0.0.1')
    .option('--emulate <v>', 'server version to behave as: 2.6, 4.0, 4.4, 5.0, 6.0.2, 6.0, 7.0, 8.0', '7.0')
    .option('--chunk-size <size>', "chunk size such as 64KB or 128MB, at least 1KB (default: the version's own)")
    .option('--runtime <r>', 'threads: actors on worker threads; inline: all in one thread', 'threads')
    .option(
      '--hosts <n>',
      'worker threads that share the members (default: one each up to 6 members, or 12 with as many cores; then cores - 1, 1 to 4)',
      wholeNumber,
    )
    .option('--native-wire', "announce the version's real wire versions, with which today's drivers refuse old ones")
    .option('--server-timings', "the server's own timings instead of quick ones")
    .option('--strict', 'refuse commands, stages and operators that would silently answer less than the server')
    .option('--from <file>', 'begin with a snapshot that was saved by the API; all but --port and --host comes with it')
    .option('--json', 'print one JSON object on the first line instead of text')
    .option('--quiet', 'print nothing but errors, and the JSON object with --json')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Exit codes: 0 a signal ended it; 2 wrong usage, or a port that is taken; 3 an error of shardlab's own.

Examples:
  shardlab up                                  three shards on port 27017
  shardlab up --port 27117 --shards 5          five shards on another port
  shardlab up --json --port 0                  for programs: first line is {"ready":true,"uri":…}
  shardlab up --emulate 4.4 --chunk-size 64KB  an older server with small chunks
  shardlab up --from filled.snapshot           a cluster that was filled before`,
    )
    .action((options: UpOptions, command: Command) =>
      run(options.from === undefined ? options : typed(options, command)),
    )
}

/** Without the defaults of what comes with a snapshot. */
function typed(options: UpOptions, command: Command): UpOptions {
  const isOwn = ([name]: [string, unknown]): boolean =>
    name === 'port' || name === 'host' || command.getOptionValueSource(name) !== 'default'
  return Object.fromEntries(Object.entries(options).filter(isOwn)) as unknown as UpOptions
}
