/**
 * The cost of members that do nothing, and of one operation, for docs/internals/scale.md: packets
 * on NATS, processor time and memory. Other work does not change the number of packets.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { connectNats } from '@shardlab/nats'
import { withoutNats } from '@shardlab/nats/testing'
import { runLoad } from '@shardlab/load'
import { MongoClient } from 'mongodb'
import { ShardedCluster } from 'shardlab'
import { HostProcesses } from '../live/hosts/host-processes.js'
import { residentBytes } from '../support/process-memory.js'
import type { BenchResult } from './bench.js'
import { cpuUsOf } from './compare/cpu-time.js'

const names = ['H1', 'H2', 'H3']
const settleMs = 8_000
const quietMs = 20_000
const operations = 200
/** Sets of three members. */
const sizes = [4, 48, 200]

interface Traffic {
  messages: number
  bytes: number
}

type Rows = BenchResult['rows'][number][]

export async function measure(): Promise<BenchResult> {
  if (withoutNats !== false) throw new Error(`bench scale ${withoutNats}`)
  const rows: Rows = []
  for (const shards of sizes) await onHosts(shards, rows)
  return {
    title: 'scale: what quiet members cost on three hosts, and what one operation costs',
    rows,
    note: 'Figures of the emulator, not of MongoDB. Hosts, nats-server and the client share one machine. The first set of three is the config server.',
  }
}

async function onHosts(shards: number, rows: Rows): Promise<void> {
  await using hosts = await HostProcesses.start(names)
  const { url } = hosts.server
  await using tap = await Tap.open(url, hosts)
  const emptyBytes = memoryOf(hosts)
  const beganMs = performance.now()
  await using cluster = await ShardedCluster.start({ shards, members: 3, nats: { url, machines: names } })
  const members = cluster.members().filter(({ role }) => role !== 'balancer').length
  const row = (name: string, value: string): void =>
    void rows.push({ name: `${shards} shards, ${members} members: ${name}`, value })
  row(
    'start',
    `${((performance.now() - beganMs) / 1000).toFixed(1)} s, ${mb(tap.traffic.bytes)} MB in ${tap.traffic.messages} packets`,
  )

  await using client = await MongoClient.connect(cluster.uri, { maxPoolSize: 1 })
  await client.db('admin').command({ shardCollection: 'app.rows', key: { _id: 'hashed' } })
  await sleep(settleMs)
  const quiet = await tap.during(() => sleep(quietMs))
  const perSecond = (value: number): number => value / (quietMs / 1000)
  row('packets a second', perSecond(quiet.messages).toFixed(0))
  row('KB a second', (perSecond(quiet.bytes) / 1000).toFixed(0))
  row('processor time of a host, ms a second', (perSecond(quiet.cpuUs) / 1000 / names.length).toFixed(0))
  row('MB resident, a host', mb((memoryOf(hosts) - emptyBytes) / names.length))
  const collection = client.db('app').collection<{ _id: number }>('rows')
  const packetsOf = async (run: (i: number) => Promise<unknown>): Promise<string> => {
    await run(-1)
    const beganMs = performance.now()
    const { messages } = await tap.during(async () => {
      for (let i = 0; i < operations; i++) await run(i)
    })
    const own = messages - (performance.now() - beganMs) * (perSecond(quiet.messages) / 1000)
    return (own / operations).toFixed(1)
  }
  const findOnAll = (): Promise<unknown> => collection.findOne({ other: 1 })
  if (shards !== sizes[0]) {
    // Under load, messages of quiet members share packets, so the packets of a find are not known.
    const beganMs = performance.now()
    const { messages } = await tap.during(async () => {
      for (let i = 0; i < operations; i++) await findOnAll()
    })
    const seconds = (performance.now() - beganMs) / 1000
    row(
      'packets a second during finds on all shards',
      `${(messages / seconds).toFixed(0)}, with ${(operations / seconds).toFixed(0)} finds a second`,
    )
    return
  }
  row('packets of a find on all shards', await packetsOf(findOnAll))
  const inserted = (from: number, w: 1 | 'majority') => (i: number) =>
    collection.insertOne({ _id: from + i }, { writeConcern: { w } })
  row('packets of an insert, w: 1', await packetsOf(inserted(1, 1)))
  row('packets of an insert, w: majority', await packetsOf(inserted(2 * operations, 'majority')))
  row('packets of a find by key', await packetsOf((i) => collection.findOne({ _id: i })))
  await generators(cluster.uri, rows)
}

/** Counts all packets on NATS. */
class Tap implements AsyncDisposable {
  readonly traffic: Traffic = { messages: 0, bytes: 0 }
  readonly #nats: Awaited<ReturnType<typeof connectNats>>
  readonly #hosts: HostProcesses

  private constructor(nats: Awaited<ReturnType<typeof connectNats>>, hosts: HostProcesses) {
    this.#nats = nats
    this.#hosts = hosts
    nats.connection.subscribe('>', {
      callback: (_, { data }) => {
        this.traffic.messages++
        this.traffic.bytes += data.length
      },
    })
  }

  static async open(url: string, hosts: HostProcesses): Promise<Tap> {
    const tap = new Tap(await connectNats({ url }, 'bench'), hosts)
    await tap.#nats.connection.flush()
    return tap
  }

  async during(run: () => Promise<unknown>): Promise<Traffic & { cpuUs: number }> {
    const { messages, bytes } = this.traffic
    const cpuUs = await cpuOf(this.#hosts)
    await run()
    await this.#nats.connection.flush()
    return {
      messages: this.traffic.messages - messages,
      bytes: this.traffic.bytes - bytes,
      cpuUs: (await cpuOf(this.#hosts)) - cpuUs,
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#nats.close()
  }
}

async function generators(uri: string, rows: Rows): Promise<void> {
  const load = {
    uri,
    records: 1000,
    operations: 20_000,
    warmUpSecs: 0,
    threads: 0,
    workload: 'a',
    check: false,
  } as const
  for (const engine of ['driver', 'wire'] as const) {
    const before = process.cpuUsage()
    await runLoad({ ...load, ns: `load.${engine}`, engine })
    const { user, system } = process.cpuUsage(before)
    const us = (user + system) / load.operations
    rows.push({ name: `processor time of an operation in a generator, engine ${engine}`, value: `${us.toFixed(0)} µs` })
  }
}

const mb = (bytes: number): string => (bytes / 1e6).toFixed(1)

const memoryOf = (hosts: HostProcesses): number => hosts.processIds.reduce((sum, id) => sum + residentBytes(id), 0)

async function cpuOf(hosts: HostProcesses): Promise<number> {
  const all = await Promise.all(hosts.processIds.map((id) => cpuUsOf(id)))
  return all.reduce<number>((sum, us) => sum + (us ?? Number.NaN), 0)
}
