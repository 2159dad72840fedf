/**
 * Cost of copies of a cluster, with few and with many documents: taking a snapshot, restoring it,
 * starting a second cluster from it.
 */
import { encode } from '@shardlab/bson'
import { cpus } from 'node:os'
import { ShardedCluster } from 'shardlab'
import { RawClient } from '../support/raw-client.js'
import type { BenchResult } from './bench.js'

const repetitions = 15
const sizes = [100, 10_000, 100_000]
const batch = 10_000

export async function measure(): Promise<BenchResult> {
  const rows = []
  for (const documents of sizes) {
    const { snapshot, restore, fork } = await copiesOf(documents)
    const ms = (samples: readonly number[]): string =>
      `${median(samples).toFixed(1)} ms (${Math.min(...samples).toFixed(1)}–${Math.max(...samples).toFixed(1)})`
    const name = `${documents.toLocaleString('en')} documents`
    rows.push(
      { name: `${name}: snapshot`, value: ms(snapshot) },
      { name: `${name}: restore`, value: ms(restore) },
      { name: `${name}: fork, to the first ping`, value: ms(fork) },
    )
  }
  return {
    title: 'fork: an inline cluster of three shards with one sharded collection and two indexes, copied',
    rows,
    note: `Figures of the emulator, not of MongoDB. Medians of ${repetitions} repetitions, minimum and maximum in brackets. Node ${process.version}, ${cpus().length} cores.`,
  }
}

async function copiesOf(documents: number): Promise<Record<'snapshot' | 'restore' | 'fork', number[]>> {
  const samples = { snapshot: [] as number[], restore: [] as number[], fork: [] as number[] }
  const cluster = await ShardedCluster.start({ shards: 3, runtime: 'inline', balancerRoundIntervalMs: 2 ** 31 - 1 })
  const client = await RawClient.connect(cluster.mongos[0]!)
  await client.command({ shardCollection: 'app.c', key: { _id: 'hashed' }, $db: 'admin' })
  await client.command({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a' }], $db: 'app' })
  for (let from = 0; from < documents; from += batch) {
    const some = Array.from({ length: Math.min(batch, documents - from) }, (_, i) =>
      encode({ _id: from + i, a: i % 1000, text: 'x'.repeat(200) }),
    )
    await client.command({ insert: 'c', $db: 'app' }, [['documents', some]])
  }
  for (let i = 0; i < repetitions; i++) {
    await client.command({ update: 'c', updates: [{ q: { _id: i }, u: { $set: { a: -1 } } }], $db: 'app' })
    const began = performance.now()
    const snapshot = await cluster.snapshot()
    const taken = performance.now()
    await cluster.restore(snapshot)
    const restored = performance.now()
    const fork = await cluster.fork()
    const other = await RawClient.connect(fork.mongos[0]!)
    await other.command({ ping: 1, $db: 'admin' })
    samples.fork.push(performance.now() - restored)
    samples.restore.push(restored - taken)
    samples.snapshot.push(taken - began)
    other.close()
    await fork.stop()
  }
  client.close()
  await cluster.stop()
  return samples
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}
