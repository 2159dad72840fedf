/**
 * Members on hosts that NATS connects: routed operations relative to threads, and packets relative
 * to messages of the bare client.
 */
import { cpus } from 'node:os'
import { createDeferred } from '@shardlab/actor'
import { connectNats } from '@shardlab/nats'
import { NatsServer, withoutNats } from '@shardlab/nats/testing'
import { FrameLink, NatsBroker } from '@shardlab/runtime/nats'
import { MongoClient, type Collection } from 'mongodb'
import { ShardedCluster, type ClusterOptions } from 'shardlab'
import { HostProcesses } from '../live/hosts/host-processes.js'
import type { BenchResult } from './bench.js'
import { generatedLoad } from './generators.js'
import { median, spread } from './interleaved.js'

const rounds = 5
const measuredMs = 2000
const clientsOfAKind = [1, 16]
const packetBytes = 300
const packets = 200_000

interface Doc {
  _id: number
}

export async function measure(): Promise<BenchResult> {
  if (withoutNats !== false) throw new Error(`bench nats ${withoutNats}`)
  await using hosts = await HostProcesses.start(['H1', 'H2'])
  const machines = { url: hosts.server.url, machines: ['H1', 'H2'], place: { mongos: ['H1'], shards: ['H2'] } }
  const worlds: Readonly<Record<string, ClusterOptions>> = { nats: { nats: machines }, threads: { hosts: 64 } }
  const rates = new Map<string, number[]>()
  const note = (name: string, rate: number): void => void rates.set(name, [...(rates.get(name) ?? []), rate])
  for (let round = 0; round < rounds; round++) {
    for (const [name, options] of Object.entries(worlds))
      await routed(options, (line, rate) => note(`${name} ${line}`, rate))
    note('bare', await bareMessages(hosts.server))
    note('links', await linkedPackets(hosts.server))
  }
  const generated = await generatedLoad(rounds)
  const lines = ['find', 'insert'].flatMap((kind) => clientsOfAKind.map((clients) => `${kind} ${clients}`))
  return {
    title: 'nats: a router on one host and a shard on another, relative to threads',
    rows: [
      ...lines.map((line) => ({
        name: `${line.replace(/ (\d+)/, ' by key, $1 at a time')}: operations, as a ratio`,
        value: ratio(rates.get(`nats ${line}`)!, rates.get(`threads ${line}`)!),
      })),
      {
        name: `packets of ${packetBytes} bytes over a link, relative to messages of the bare client`,
        value: ratio(rates.get('links')!, rates.get('bare')!),
      },
      { name: 'these packets', value: `${Math.round(median(rates.get('links')!)).toLocaleString('en')} a second` },
      { name: 'load: operations of four generators on workers, relative to one', value: spread(generated.ratios) },
      {
        name: 'load: operations of one generator',
        value: `${Math.round(median(generated.perSecond)).toLocaleString('en')} a second`,
      },
    ],
    note: `Figures of the emulator, not of MongoDB. Medians of ${rounds} interleaved rounds; clients, nats-server, the cluster and each host, worker and generator are processes of one machine, so that four generators take the cores of the cluster. Node ${process.version}, ${cpus().length} cores.`,
  }
}

async function routed(options: ClusterOptions, note: (line: string, rate: number) => void): Promise<void> {
  await using cluster = await ShardedCluster.start({ shards: 1, balancerRoundIntervalMs: 2 ** 31 - 1, ...options })
  await using client = await MongoClient.connect(cluster.uri, { maxPoolSize: 16 })
  const rows = client.db('app').collection<Doc>('rows')
  await client.db('admin').command({ enableSharding: 'app' })
  await client.db('admin').command({ shardCollection: 'app.rows', key: { _id: 1 } })
  await rows.insertMany(Array.from({ length: 1000 }, (_, _id) => ({ _id })))
  let next = 1000
  for (const clients of clientsOfAKind) {
    const find = await perSecond(clients, () => rows.findOne({ _id: next++ % 1000 }))
    note(`find ${clients}`, find)
    note(`insert ${clients}`, await perSecond(clients, () => insert(rows, next++)))
  }
}

const insert = (rows: Collection<Doc>, _id: number): Promise<unknown> => rows.insertOne({ _id })

async function perSecond(clients: number, operation: () => Promise<unknown>): Promise<number> {
  let done = 0
  const until = performance.now() + measuredMs
  const run = async (): Promise<void> => {
    for (; performance.now() < until; done++) await operation()
  }
  await Promise.all(Array.from({ length: clients }, run))
  return done / (measuredMs / 1000)
}

/** Between two connections of this process. */
async function bareMessages({ url }: NatsServer): Promise<number> {
  const [from, to] = await Promise.all([connectNats({ url }, 'bench'), connectNats({ url }, 'bench')])
  try {
    let received = 0
    const all = new Promise<void>((resolve) => {
      to.connection.subscribe('bench.bare', { callback: () => void (++received === packets && resolve()) })
    })
    await to.connection.flush()
    const began = performance.now()
    await inTurns(() => from.connection.publish('bench.bare', new Uint8Array(packetBytes)))
    await all
    return packets / ((performance.now() - began) / 1000)
  } finally {
    await Promise.all([from.close(), to.close()])
  }
}

async function linkedPackets({ url }: NatsServer): Promise<number> {
  const ends = await Promise.all([connectNats({ url }, 'bench'), connectNats({ url }, 'bench')])
  const [from, to] = ends.map(({ connection }) => new NatsBroker(connection)) as [NatsBroker, NatsBroker]
  try {
    let received = 0
    const all = createDeferred<void>()
    const common = {
      messageBytesMax: 512 * 1024,
      unreceivedBytesMax: 64 * 1024 * 1024,
      onLimit: () => {},
      onBroken: (why: string) => all.reject(new Error(why)),
    }
    const sender = new FrameLink({ ...common, send: (m) => from.publish('bench.to', m), onFrame: () => {} })
    const receiver = new FrameLink({
      ...common,
      send: (m) => to.publish('bench.from', m),
      onFrame: () => ++received === packets && all.resolve(),
    })
    to.subscribe('bench.to', ({ content }) => receiver.receive(content))
    from.subscribe('bench.from', ({ content }) => sender.receive(content))
    await Promise.all(ends.map(({ connection }) => connection.flush()))
    const began = performance.now()
    await inTurns(() => sender.write(new Uint8Array(packetBytes)))
    await all.promise
    return packets / ((performance.now() - began) / 1000)
  } finally {
    await Promise.all(ends.map((end) => end.close()))
  }
}

/** As many in a turn as sixteen clients cause. */
async function inTurns(send: () => void): Promise<void> {
  for (let i = 0; i < packets; i++) {
    send()
    if (i % 16 === 15) await new Promise(setImmediate)
  }
}

function ratio(values: readonly number[], base: readonly number[]): string {
  const ratios = values.map((value, i) => value / base[i]!).toSorted((a, b) => a - b)
  return `${median(ratios).toFixed(2)} (${ratios[0]!.toFixed(2)} to ${ratios.at(-1)!.toFixed(2)})`
}
