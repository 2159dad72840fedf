/**
 * Time from `ShardedCluster.start()` to the first ping of a raw client, in a process that has
 * loaded the module; and the memory of a cluster with documents.
 */
import { cpus } from 'node:os'
import { ShardedCluster } from 'shardlab'
import { RawClient } from '../support/raw-client.js'
import type { BenchResult } from './bench.js'
import { atMost } from './goals.js'
import { median, spread } from './interleaved.js'
import { measureProcesses } from './start-processes.js'

const repetitions = 5

interface Start {
  readonly shards: number
  readonly runtime: 'threads' | 'inline'
  readonly hosts?: number
  readonly members?: number
  readonly goalMs?: number
}

const clusters: Readonly<Record<string, Start>> = {
  threads: { shards: 3, runtime: 'threads', goalMs: 150 },
  inline: { shards: 3, runtime: 'inline', goalMs: 40 },
  'two shards of three members': { shards: 2, runtime: 'threads', members: 3, goalMs: 1500 },
  '20 shards on two threads': {
    shards: 20,
    runtime: 'threads',
    hosts: 2,
  },
  '20 shards, a thread for each member': { shards: 20, runtime: 'threads', hosts: 23, goalMs: 450 },
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
      ...Object.entries(clusters).map(([name, { shards, goalMs }], at) => {
        const ownMs = median(samples[at]!)
        return {
          name,
          value: `${spread(samples[at]!, 0)} ms${shards === 3 ? '' : `, ${(ownMs / threads).toFixed(1)} × three shards`}`,
          ...(goalMs === undefined ? atMost(2, ' × three shards', ownMs / threads) : atMost(goalMs, ' ms', ownMs)),
        }
      }),
      ...processes,
    ],
    note: `Figures of the emulator, not of MongoDB. Medians of ${repetitions} starts in turns, minimum and maximum in brackets. Node ${process.version}, ${cpus().length} cores.`,
  }
}

async function startToPing({ goalMs: _goal, ...options }: Start): Promise<number> {
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
