import { InvalidArgumentError, type Command } from 'commander'
import { collect, count, seconds, wholeNumber } from './argument-parsers.js'
import { describe } from './help-text.js'
import { addNatsFlags, type NatsFlags } from './nats-flags.js'

export type RampOption = number | { readonly from: number; readonly to: number }

export interface LoadCommandOptions extends NatsFlags {
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
  readonly generators?: number
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
  const command = describe(
    program.command('load'),
    'Load-test targeted, multi-shard and broadcast operations.\nThe end check finds acknowledged writes that were lost.',
    `  shardlab load --up "--shards 4" --workload route-mix     on a cluster for this test alone
  shardlab load --uri mongodb://localhost/ --duration 1m --expect "p99<20ms"
  shardlab load --compare before.json after.json`,
  )
  command
    .optionsGroup('Cluster:')
    .option('--uri <uri>', 'connection string of a running server or cluster')
    .option('--up <options>', 'start a cluster with these options of up, and stop it at the end')
    .optionsGroup('Workload:')
    .option('--workload <w>', 'a to f, route-mix, transactions, …, or a file, see below (default: a)')
    .option('--duration <time>', 'how long to measure, such as 500ms, 30s or 5m (default: 10s)', seconds)
    .option('--operations <n>', 'number of operations to measure', wholeNumber)
    .option('--warm-up <time>', 'run operations for this time before measuring (default: 1s)', seconds)
    .option('--rate <r>', 'operations per second, an open loop; 100..5000: a rising rate', ramp)
    .option('--concurrency <n>', 'maximum in flight; 1..64: rising (default: 16; with --rate 256)', ramp)
    .option('--fault <fault>', 'such as "crash shard02 at 10s for 5s"; on Shardlab; may be repeated', collect)
    .option('--sweep <s>', 'one run for each value, such as shards=1..16, see below')
    .optionsGroup('Data:')
    .option('--ns <database.collection>', 'collection to use (default: shardlab_load.records)')
    .option('--shard-key <key>', 'such as _id:hashed or customer:1,_id:1; none: unsharded')
    .option('--drop', 'drop the collection first, if it exists')
    .option('--records <n>', 'records to load first (default: 1000, or as the file says)', wholeNumber)
    .option('--field-count <n>', 'text fields of a record (default: 10)', wholeNumber)
    .option('--field-length <bytes>', 'length of each text field (default: 100)', wholeNumber)
    .option('--distribution <d>', 'of keys: uniform, zipfian, latest, hotspot, exponential or sequential')
    .option('--transaction-reads <n>', 'records that each transaction reads (default: 2)', wholeNumber)
    .option('--transaction-writes <n>', 'other records that it updates (default: 2)', wholeNumber)
    .option('--seed <n>', 'seed of the generated data (default: 1)', wholeNumber)
    .optionsGroup('Client:')
    .option('--engine <e>', 'driver: the official driver; wire: own connections, faster')
    .option('--threads <n>', 'worker threads; 0: the main thread (default: driver 0, wire 1)', wholeNumber)
    .option('--pipeline <n>', 'with --engine wire: operations in flight on one connection', wholeNumber)
    .option('--generators <n>', 'parts of the load: threads, or with --nats jobs of workers', count)
  addNatsFlags(command.optionsGroup('Workers on other machines:'), 'let the workers of this server generate the load')
    .optionsGroup('Results:')
    .option('--expect <e>', 'fail unless this holds, such as "p99<20ms"; may be repeated', collect)
    .option('--no-check', 'skip the end check, which reads every record back')
    .option('--html <file>', 'write the report as an HTML page')
    .option('--json [file]', 'write the report as JSON, to a file or standard output')
    .option('--compare <files...>', 'print two JSON reports side by side, and measure nothing')
    .option('--quiet', 'print no report')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      `
Workloads:
  a, b, c, d, e, f              the core workloads of YCSB
  route-mix                     targeted, multi-shard and broadcast operations
  transactions-one-shard        transactions whose records have one shard key value
  transactions-across-shards    transactions over any records
  transactions                  half of each
  the path of a file            your own operations

Sweeps:       shards=1..16 and mongos=1..4 (with --up), concurrency=1..64, rate=1000..8000:1000
Expectations: "p99<20ms", "errors==0", "p99(broadcast)<1s"; one that fails sets exit code 1

More examples:
  shardlab load --up "--shards 3" --workload b --rate 2000
  shardlab load --uri mongodb://db1/ --rate 50000 --generators 8 --nats nats://build1:4222
  shardlab load --up "--shards 4" --fault "crash shard02 at 3s for 2s" --html load.html
  shardlab load --up "" --sweep shards=1..16 --workload route-mix --concurrency 1 --html sweep.html
  shardlab load --up "--shards 4" --workload transactions --transaction-reads 3 --transaction-writes 2

Exit codes:
  0    all expectations and the end check pass
  1    one fails
  2    wrong usage, file or address
  3    internal error
  130  ended by Ctrl-C
  143  ended by SIGTERM`,
    )
    .action(run)
}

function ramp(text: string): RampOption {
  const match = /^(\d+(?:\.\d+)?)(?:\.\.(\d+(?:\.\d+)?))?$/.exec(text)
  if (match === null) throw new InvalidArgumentError('It must be a number, or two as in 100..5000.')
  return match[2] === undefined ? Number(match[1]) : { from: Number(match[1]), to: Number(match[2]) }
}
