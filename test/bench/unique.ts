/**
 * Cost of a unique field with a proxy collection: commands and time of an insert, compared with a
 * plain one. `SHARDLAB_TEST_URI`: on any deployment.
 */
import { cpus } from 'node:os'
import { MongoClient } from 'mongodb'
import { uniqueCollection, type UniqueOptions } from '@shardlab/unique'
import { ShardedCluster } from 'shardlab'
import type { BenchResult } from './bench.js'

const inserts = 300
const repetitions = 3

interface Measured {
  readonly commands: number
  readonly ms: number
}

export async function measure(): Promise<BenchResult> {
  const { SHARDLAB_TEST_URI } = process.env
  const cluster = SHARDLAB_TEST_URI === undefined ? await ShardedCluster.start({ shards: 3, runtime: 'inline' }) : null
  const client = await MongoClient.connect(SHARDLAB_TEST_URI ?? cluster!.uri, { monitorCommands: true })
  const db = client.db(`bench_unique_${Date.now().toString(36)}`)
  try {
    const plain: Measured[] = []
    const transactions = 'never'
    const options: Record<string, UniqueOptions> = {
      'sharded proxies, one field': { unique: ['email'], transactions },
      'sharded proxies, two fields': { unique: ['email', 'handle'], transactions },
      'unsharded proxy, two fields': { unique: ['email', 'handle'], proxies: 'unsharded', transactions },
      'one field, with transactions': { unique: ['email'] },
    }
    const layouts: Record<string, Measured[]> = Object.fromEntries(Object.keys(options).map((name) => [name, []]))
    // Interleaved, so that a slow moment affects all variants.
    for (let i = 0; i < repetitions; i++) {
      const collection = db.collection(`plain${i}`)
      plain.push(await timed(client, (n) => collection.insertOne({ email: n, handle: n })))
      for (const [name, given] of Object.entries(options)) {
        const users = await uniqueCollection(
          db.collection(`unique${i}_${Object.keys(options).indexOf(name)}`),
          given,
        ).init()
        layouts[name]!.push(await timed(client, (n) => users.insertOne({ email: n, handle: n })))
      }
    }
    const base = median(plain.map(({ ms }) => ms))
    return {
      title: `unique: ${inserts} sequential inserts, relative to plain ones`,
      rows: [
        ...Object.entries(layouts).flatMap(([name, measured]) => [
          {
            name: `${name}: commands per insert`,
            value: (median(measured.map(({ commands }) => commands)) / inserts).toFixed(2),
            goal: 'plain: 1.00',
          },
          { name: `${name}: time, as a ratio`, value: `${(median(measured.map(({ ms }) => ms)) / base).toFixed(2)}` },
        ]),
      ],
      note: `Medians of ${repetitions}, interleaved; ${cluster === null ? 'of the deployment that SHARDLAB_TEST_URI names' : 'figures of the emulator, not of MongoDB'}. Node ${process.version}, ${cpus().length} cores.`,
    }
  } finally {
    await db.dropDatabase()
    await client.close()
    await cluster?.stop()
  }
}

async function timed(client: MongoClient, insert: (n: number) => Promise<unknown>): Promise<Measured> {
  let commands = 0
  const count = (): unknown => commands++
  client.on('commandStarted', count)
  const startedMs = performance.now()
  for (let n = 0; n < inserts; n++) await insert(n)
  const ms = performance.now() - startedMs
  client.off('commandStarted', count)
  return { commands, ms }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}
