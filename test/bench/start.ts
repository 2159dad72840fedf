/**
 * Time from `ShardedCluster.start()` to the first ping of a raw client, in a process that has
 * loaded the module; and the memory of a cluster with documents.
 */
import { cpus } from 'node:os'
import { ShardedCluster } from 'shardlab'
import { RawClient } from '../support/raw-client.js'
import type { BenchResult } from './bench.js'
import { median, spread } from './interleaved.js'
import { measureProcesses } from './start-processes.js'

const repetitions = 5

interface Start {
  readonly shards: number
  readonly runtime: 'threads' | 'inline'
  readonly hosts?: number
  readonly members?: number
  readonly goal: string
}

const clusters: Readonly<Record<string, Start>> = {
  threads: { shards: 3, runtime: 'threads', goal: 'goal: at most 150 ms' },
  inline: { shards: 3, runtime: 'inline', goal: 'goal: at most 40 ms' },
  'two shards of three members': { shards: 2, runtime: 'threads', members: 3, goal: 'goal: at most 1,500 ms' },
  '20 shards on two threads': {
    shards: 20,
    runtime: 'threads',
    hosts: 2,
    goal: 'goal: at most twice as long as three shards',
  },
  '20 shards, a thread for each member': { shards: 20, runtime: 'threads', hosts: 23, goal: 'goal: at most 450 ms' },
}

export async function measure(): Promise<BenchResult> {
  const samples = Object.keys(clusters).map(() => [] as number[])
  for (let i = 0; i < repetitions; i++)
    for (const [at, start] of Object.values(clusters).entries()) samples[at]!.push(await startToPing(start))
  const threads = median(samples[0]!)
  const processes = await measureProcesses(repetitions)
  return {
    title:
      'start: config server, one mongos, balancer and shards (three where it does not say), to the first ping of a raw client',
    rows: [
      ...Object.entries(clusters).map(([name, { shards, goal }], at) => ({
        name,
        value: `${spread(samples[at]!, 0)} ms${shards === 3 ? '' : `, ${(median(samples[at]!) / threads).toFixed(1)} × three shards`}`,
        goal,
      })),
      ...processes,
    ],
    note: `Figures of the emulator, not of MongoDB. Medians of ${repetitions} starts in turns, minimum and maximum in brackets. Node ${process.version}, ${cpus().length} cores.`,
  }
}

async function startToPing({ goal: _goal, ...options }: Start): Promise<number> {
  const startedMs = performance.now()
  const cluster = await ShardedCluster.start(options)
  const client = await RawClient.connect(cluster.mongos[0]!)
  const reply = await client.command({ ping: 1, $db: 'admin' })
  const tookMs = performance.now() - startedMs
  if (reply['ok'] !== 1) throw new Error('the first ping was not answered')
  client.close()
  await cluster.stop()
  return tookMs
}
