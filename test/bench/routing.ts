/**
 * Cost of a routing decision, from the bytes of a message to a shard, and of a change of the
 * routing table.
 */
import { cpus } from 'node:os'
import { decode, encode, findField, toRawValue, type Document } from '@shardlab/bson'
import { compileFilter } from '@shardlab/query'
import {
  RoutingTable,
  ShardKeyPattern,
  targetFilter,
  type ChunkEntry,
  type CollectionPlacement,
} from '@shardlab/sharding'
import { decodeRequest, encodeCommand } from '@shardlab/wire'
import type { BenchResult } from './bench.js'
import { atLeast, atMost } from './goals.js'
import { interleaved, median, ratios, spread } from './interleaved.js'

const shardKey = ShardKeyPattern.parse(encode({ tenant: 1, ts: 1 }), { compoundHashed: true })
const context = { now: () => 0, random: () => 0.5 }
const chunkCounts = [1_000, 100_000, 1_000_000] as const
const goalsByCount: Readonly<Record<number, { readonly insertNs: number; readonly findNs: number }>> = {
  100_000: { insertNs: 500, findNs: 1500 },
  1_000_000: { insertNs: 1200, findNs: 2200 },
}
const requestCount = 4096
let sink = 0

type Row = BenchResult['rows'][number]

export async function measure(): Promise<BenchResult> {
  return {
    title: 'routing: key { tenant: 1, ts: 1 }, 100 shards; from the bytes of an OP_MSG to the shard',
    rows: chunkCounts.flatMap(rowsFor),
    note: `Figures of the emulator, not of MongoDB. CPU time; medians of nine interleaved rounds, minimum and maximum in brackets; ${sink > 0 ? '' : 'nothing ran; '}Node ${process.version}, ${cpus().length} cores.`,
  }
}

function rowsFor(count: number): Row[] {
  globalThis.gc?.()
  const before = process.memoryUsage()
  const table = tableOf(count)
  globalThis.gc?.()
  const after = process.memoryUsage()
  const bytesEach = (after.heapUsed + after.external - before.heapUsed - before.external) / count
  const placement: CollectionPlacement = {
    ns: 'db.c',
    uuid: new Uint8Array(16),
    shardKey,
    unique: false,
    isUnsplittable: false,
    defaultCollation: null,
    table,
  }
  const keys = Array.from({ length: requestCount }, (_, i) =>
    keyOf((i * 7919) % Math.floor(count / 10), (i * 37) % 10_000),
  )
  const inserts = keys.map((key, i) =>
    encodeCommand(i, encode({ insert: 'c', $db: 'db' }), {
      sequences: [['documents', [encode({ _id: i, ...key, amount: i, name: `customer ${i}` })]]],
    }),
  )
  const finds = keys.map((key, i) => encodeCommand(i, encode({ find: 'c', filter: key, $db: 'db' })))
  const samples = interleaved({
    decision: [(times) => repeat(times, (i) => ownerOf(table, documentOf(inserts[i]!))), 100_000],
    message: [(times) => repeat(times, (i) => documentOf(inserts[i]!).length), 100_000],
    decoded: [(times) => repeat(times, (i) => decodedOwner(table, documentOf(inserts[i]!))), 20_000],
    find: [(times) => repeat(times, (i) => findOwner(placement, finds[i]!)), 50_000],
    ...changesOf(table, count),
  })
  const name = (what: string) => `${count.toLocaleString('en')} chunks: ${what}`
  const goals = goalsByCount[count]
  const change = (what: string, values: readonly number[]): Row => ({
    name: name(what),
    value: `${(median(values) / 1000).toFixed(1)} µs`,
    ...(count === 1_000_000 ? atMost(10, ' µs', median(values) / 1000) : {}),
  })
  const own = samples.decision.map((value, i) => value - samples.message[i]!)
  const slower = ratios(
    samples.decoded.map((value, i) => value - samples.message[i]!),
    own,
  )
  return [
    {
      name: name('insert, document to shard'),
      value: `${spread(own, 0)} ns`,
      ...(goals === undefined ? {} : atMost(goals.insertNs, ' ns', median(own))),
    },
    { name: name('the same with the message taken apart'), value: `${spread(samples.decision, 0)} ns` },
    {
      name: name('through decoding the document'),
      value: `${spread(slower, 1)} × slower`,
      ...atLeast(6, '', median(slower)),
    },
    {
      name: name('find, message to shard'),
      value: `${spread(samples.find, 0)} ns`,
      ...(goals === undefined ? {} : atMost(goals.findNs, ' ns', median(samples.find))),
    },
    change('split, with a new snapshot', samples.split),
    change('move, with a new snapshot', samples.move),
    ...(globalThis.gc === undefined
      ? []
      : [{ name: name('memory'), value: `${bytesEach.toFixed(0)} bytes a chunk`, ...atMost(80, '', bytesEach) }]),
  ]
}

function repeat(times: number, work: (index: number) => number): void {
  for (let i = 0; i < times; i++) sink += work(i & (requestCount - 1))
}

function documentOf(message: Uint8Array): Uint8Array {
  const request = decodeRequest(message, () => undefined)
  if (request.kind !== 'command') throw new Error('the message is no command')
  return request.sequences[0]![1][0]!
}

function ownerOf(table: RoutingTable, document: Uint8Array): number {
  const key = shardKey.extract(document)
  if (typeof key === 'string') throw new Error('the document has no shard key')
  return table.shardOf(key.keyString).length
}

function decodedOwner(table: RoutingTable, bytes: Uint8Array): number {
  const document = decode(bytes)
  return table.shardOf(placeOf({ tenant: document['tenant'], ts: document['ts'] })).length
}

function findOwner(placement: CollectionPlacement, message: Uint8Array): number {
  const request = decodeRequest(message, () => undefined)
  if (request.kind !== 'command') throw new Error('the message is no command')
  return targetFilter(placement, compileFilter(findField(request.body, 'filter')!.slice(), context)).shards.length
}

function changesOf(table: RoutingTable, count: number) {
  const entries = [...table.chunks()]
  const chosen = Array.from({ length: requestCount }, (_, i) => (i * 7919) % (count - 1))
  // Flat strings, as KeyStrings are: a concatenation would be flattened during the measurement.
  const middles = chosen.map((at) => Buffer.from(`${entries[at]!.min}\x01`, 'latin1').toString('latin1'))
  let minor = count
  const split = (i: number): number => {
    const chunk = entries[chosen[i]!]!
    minor += 2
    return table.withChanges([
      { ...chunk, max: middles[i]!, minor: minor - 1 },
      { ...chunk, min: middles[i]!, minor },
    ]).chunkCount
  }
  const move = (i: number): number =>
    table.withChanges([
      { ...entries[chosen[i]!]!, shard: 'shard7', major: 2, minor: 0 },
      { ...entries[chosen[i]! + 1]!, major: 2, minor: 1 },
    ]).chunkCount
  return {
    split: [(times: number) => repeat(times, split), 4_000] as const,
    move: [(times: number) => repeat(times, move), 4_000] as const,
  }
}

const keyOf = (tenant: number, ts: number): Document => ({ tenant: `t${String(tenant).padStart(6, '0')}`, ts })

function placeOf({ tenant, ts }: Document): string {
  const values = new Map([
    ['tenant', toRawValue(tenant)],
    ['ts', toRawValue(ts)],
  ])
  return shardKey.keyFromValues(values)!.keyString
}

function tableOf(count: number): RoutingTable {
  const bounds = Array.from({ length: count - 1 }, (_, i) => placeOf(keyOf(Math.floor(i / 10), (i % 10) * 1000 + 500)))
  const edges = [shardKey.globalMinKeyString, ...bounds, shardKey.globalMaxKeyString]
  const chunks: ChunkEntry[] = edges
    .slice(1)
    .map((max, i) => ({ min: edges[i]!, max, shard: `shard${i % 100}`, major: 1, minor: i }))
  const range = { globalMin: shardKey.globalMinKeyString, globalMax: shardKey.globalMaxKeyString }
  return RoutingTable.build(['64b7f0000000000000000001', 1, 1], range, chunks)
}
