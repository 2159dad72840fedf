/** From `ShardedCluster.start()` to the first ping of a raw client, in a process that has loaded the module. */
import { cpus } from 'node:os'
import { ShardedCluster } from 'shardlab'
import { RawClient } from '../support/raw-client.js'
import type { BenchResult } from './benches.js'

const repetitions = 5
const goalsMs = { threads: 250, inline: 40 } as const

export async function measure(): Promise<BenchResult> {
  const samples = { threads: [] as number[], inline: [] as number[] }
  for (let i = 0; i < repetitions; i++) {
    for (const runtime of ['threads', 'inline'] as const) samples[runtime].push(await startToPing(runtime))
  }
  return {
    title: 'start: three shards, config server, one mongos, balancer, to the first ping of a raw client',
    rows: (['threads', 'inline'] as const).flatMap((runtime) => [
      {
        name: `${runtime}, median of ${repetitions}`,
        value: `${median(samples[runtime]).toFixed(1)} ms`,
        goal: `goal: at most ${goalsMs[runtime]} ms`,
      },
      {
        name: `${runtime}, least and most`,
        value: `${Math.min(...samples[runtime]).toFixed(1)}–${Math.max(...samples[runtime]).toFixed(1)} ms`,
      },
    ]),
    note: `Figures of the emulator, not of MongoDB. Node ${process.version}, ${cpus().length} cores; threads and inline interleaved.`,
  }
}

async function startToPing(runtime: 'threads' | 'inline'): Promise<number> {
  const startedMs = performance.now()
  const cluster = await ShardedCluster.start({ shards: 3, runtime })
  const client = await RawClient.connect(cluster.mongos[0]!)
  const reply = await client.command({ ping: 1, $db: 'admin' })
  const tookMs = performance.now() - startedMs
  if (reply['ok'] !== 1) throw new Error('the first ping was not answered')
  client.close()
  await cluster.stop()
  return tookMs
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}
