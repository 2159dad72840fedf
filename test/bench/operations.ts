/**
 * Cost of commands through a mongos: operations per second with a few connections, and CPU of all
 * threads per operation, which depends less on other load. The client is minimal and in the same
 * process; rows named `driver` use the npm package.
 */
import { cpus } from 'node:os'
import { MongoClient } from 'mongodb'
import { ShardedCluster } from 'shardlab'
import { RawClient } from '../support/raw-client.js'
import type { BenchResult } from './bench.js'
import { median } from './interleaved.js'
import { $db, prepare, rows, runRow } from './operations/rows.js'

const connections = 4
const rounds = 5

export async function measure(): Promise<BenchResult> {
  const measured: { name: string; value: string }[] = []
  for (const runtime of ['threads', 'inline'] as const) {
    for (const { name, perSecond, cpuUs } of await measureRuntime(runtime)) {
      measured.push({
        name: `${runtime}: ${name}`,
        value: `${Math.round(perSecond).toLocaleString('en')} /s, ${cpuUs.toFixed(0)} µs CPU`,
      })
    }
  }
  return {
    title: `operations: three shards, one mongos, a collection sharded by a hash, ${connections} connections`,
    rows: measured,
    note: `Figures of the emulator, not of MongoDB. Medians of ${rounds} rounds; the client's CPU is included. Node ${process.version}, ${cpus().length} cores.`,
  }
}

async function measureRuntime(
  runtime: 'threads' | 'inline',
): Promise<{ name: string; perSecond: number; cpuUs: number }[]> {
  const cluster = await ShardedCluster.start({ shards: 3, runtime })
  const clients = await Promise.all(Array.from({ length: connections }, () => RawClient.connect(cluster.mongos[0]!)))
  const driver = await MongoClient.connect(`mongodb://${cluster.mongos[0]!}/?maxPoolSize=${connections}`)
  try {
    await prepare((command, sequences) => clients[0]!.command(command, sequences))
    const collection = driver.db($db).collection<{ _id: number }>('rows')
    const samples = rows.map(() => ({ perSecond: [] as number[], cpuUs: [] as number[] }))
    // Round 0 warms up. Rows run in turns, so that a busy minute of the machine affects all of
    // them.
    for (let round = 0; round <= rounds; round++) {
      for (const [at, row] of rows.entries()) {
        const cpuBefore = process.cpuUsage()
        const startedMs = performance.now()
        await runRow(row, round, clients, collection)
        const tookMs = performance.now() - startedMs
        const cpu = process.cpuUsage(cpuBefore)
        if (round === 0) continue
        samples[at]!.perSecond.push((row.count / tookMs) * 1000)
        samples[at]!.cpuUs.push((cpu.user + cpu.system) / row.count)
      }
    }
    return rows.map(({ name }, at) => ({
      name,
      perSecond: median(samples[at]!.perSecond),
      cpuUs: median(samples[at]!.cpuUs),
    }))
  } finally {
    await driver.close()
    for (const client of clients) client.close()
    await cluster.stop()
  }
}
