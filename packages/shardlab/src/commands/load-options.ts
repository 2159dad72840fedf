import { InvalidArgumentError, type Command } from 'commander'
import { collect, seconds, wholeNumber } from './argument-parsers.js'

export type RampOption = number | { readonly from: number; readonly to: number }

export interface LoadCommandOptions {
  readonly uri?: string
  readonly up?: string
  readonly workload?: string
  readonly engine?: string
  readonly rate?: RampOption
  readonly concurrency?: RampOption
  /** Seconds. */
  readonly duration?: number
  readonly operations?: number
  /** Seconds. */
  readonly warmUp?: number
  readonly records?: number
  readonly seed?: number
  readonly distribution?: string
  readonly fieldCount?: number
  readonly fieldLength?: number
  readonly transactionReads?: number
  readonly transactionWrites?: number
  readonly ns?: string
  readonly shardKey?: string
  readonly drop?: true
  readonly threads?: number
  readonly pipeline?: number
  readonly check: boolean
  readonly fault?: string[]
  readonly sweep?: string
  readonly expect?: string[]
  /** true: standard output. */
  readonly json?: string | true
  readonly html?: string
  readonly compare?: string[]
  readonly quiet?: true
}

export function addLoadCommand(program: Command, run: (options: LoadCommandOptions) => Promise<void>): void {
  program
    .command('load')
    .description(
      'Measure targeted, multi-shard and broadcast operations on any MongoDB, and check that no acknowledged write was lost.',
    )
    .option('--uri <uri>', 'connection string of the server or cluster')
    .option('--up <options>', 'start a cluster with these options of shardlab up instead, and stop it at the end')
    .option(
      '--workload <w>',
      "YCSB's a, b, c, d, e, f; route-mix; transactions, transactions-one-shard, transactions-across-shards; or the path of a workload file (default: a)",
    )
    .option('--records <n>', 'records to load first (default: 1000, or the number in the file)', wholeNumber)
    .option('--distribution <d>', 'of keys: uniform, zipfian, latest, hotspot, exponential or sequential')
    .option('--field-count <n>', 'text fields of a record (default: 10)', wholeNumber)
    .option('--field-length <bytes>', 'length of each text field (default: 100)', wholeNumber)
    .option('--transaction-reads <n>', 'records that each transaction reads (default: 2)', wholeNumber)
    .option('--transaction-writes <n>', 'other records that it updates (default: 2)', wholeNumber)
    .option('--ns <database.collection>', 'collection to use (default: shardlab_load.records)')
    .option('--shard-key <key>', 'shard key, such as _id:hashed or customer:1,_id:1; none: unsharded')
    .option('--seed <n>', 'seed of the generated data (default: 1)', wholeNumber)
    .option('--drop', 'drop the collection first, if it exists')
    .option('--rate <r>', 'operations per second, an open loop; 100..5000: rising over the duration', ramp)
    .option('--concurrency <n>', 'maximum operations in flight; 1..64: rising (default: 16, with --rate 256)', ramp)
    .option('--duration <time>', 'how long to measure, such as 500ms, 30s or 5m (default: 10s)', seconds)
    .option('--operations <n>', 'number of operations to measure', wholeNumber)
    .option('--warm-up <time>', 'how long to run operations before measuring (default: 1s)', seconds)
    .option('--engine <e>', 'driver: the official driver; wire: own connections with less work in the client')
    .option(
      '--threads <n>',
      'worker threads of the engine; 0: the main thread (default: driver 0, wire 1)',
      wholeNumber,
    )
    .option('--pipeline <n>', 'with --engine wire: operations in flight on one connection', wholeNumber)
    .option(
      '--fault <fault>',
      'break a Shardlab cluster, as in "crash shard02 at 10s for 5s"; may be repeated',
      collect,
    )
    .option(
      '--sweep <s>',
      'run once for each of shards=1..16, mongos=1..4 (with --up), concurrency=1..64 or rate=1000..8000:1000',
    )
    .option(
      '--expect <e>',
      'fail with exit code 1 unless this holds: "p99<20ms", "errors==0", "p99(broadcast)<1s"; may be repeated',
      collect,
    )
    .option('--no-check', 'skip the end check, which reads everything back')
    .option('--json [file]', 'write the report as JSON, to a file or standard output')
    .option('--html <file>', 'write the report as an HTML page')
    .option('--compare <files...>', 'print two JSON reports side by side, and measure nothing')
    .option('--quiet', 'print no report')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Exit codes: 0 all expectations and the end check pass; 1 one fails; 2 wrong usage, file or address; 3 internal error;
130 ended by Ctrl-C, 143 by SIGTERM.

Examples:
  shardlab load --up "--shards 3" --workload b                       YCSB B on a cluster for this test alone
  shardlab load --uri mongodb://localhost/ --rate 2000 --duration 1m --expect "p99<20ms"
  shardlab load --up "" --sweep shards=1..16 --workload route-mix --concurrency 1 --html sweep.html
  shardlab load --up "--shards 4" --workload transactions --transaction-reads 3 --transaction-writes 2
  shardlab load --compare before.json after.json`,
    )
    .action(run)
}

function ramp(text: string): RampOption {
  const match = /^(\d+(?:\.\d+)?)(?:\.\.(\d+(?:\.\d+)?))?$/.exec(text)
  if (match === null) throw new InvalidArgumentError('It must be a number, or two as in 100..5000.')
  return match[2] === undefined ? Number(match[1]) : { from: Number(match[1]), to: Number(match[2]) }
}
