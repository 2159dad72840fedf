/**
 * Run it by hand: `node --expose-gc dist/test/bench/routing.bench.js`. Prints the median of several
 * rounds.
 */
import { decode, emptyDocument, encode, ObjectId, toRawValue } from '@shardlab/bson'
import { compileFilter } from '@shardlab/query'
import { performance } from 'node:perf_hooks'
import {
  RoutingTable,
  ShardKeyPattern,
  targetFilter,
  type ChunkEntry,
  type CollectionPlacement,
} from '../../src/index.js'

const shardKey = ShardKeyPattern.parse(encode({ tenant: 1, ts: 1 }), { compoundHashed: true })
const context = { now: () => 0, random: () => 0.5 }
let sink = 0
/** Of the table that is being measured. */
let chunkCount = 0

function print(name: string, value: string): void {
  console.log(`${`${chunkCount} chunks, ${name}`.padEnd(66)} ${value.padStart(9)}`)
}

function measure(name: string, calls: number, run: (i: number) => number): void {
  const rounds: number[] = []
  for (let round = 0; round < 7; round++) {
    const from = performance.now()
    for (let i = 0; i < calls; i++) sink += run(i)
    rounds.push(((performance.now() - from) * 1e6) / calls)
  }
  print(name, `${rounds.sort((a, b) => a - b)[3]!.toFixed(0)} ns`)
}

function place(tenant: number, ts: number): string {
  const key = shardKey.keyFromValues(
    new Map([
      ['tenant', toRawValue(`t${String(tenant).padStart(6, '0')}`)],
      ['ts', toRawValue(ts)],
    ]),
  )
  return key!.keyString
}

function tableOf(count: number): RoutingTable {
  const bounds = Array.from({ length: count - 1 }, (_, i) => place(Math.floor(i / 10), (i % 10) * 1000 + 500))
  const edges = [shardKey.globalMinKeyString, ...bounds, shardKey.globalMaxKeyString]
  const chunks: ChunkEntry[] = edges
    .slice(1)
    .map((max, i) => ({ min: edges[i]!, max, shard: `shard${i % 100}`, major: 1, minor: i }))
  return RoutingTable.build(
    ['64b7f0000000000000000001', 1, 1],
    { globalMin: shardKey.globalMinKeyString, globalMax: shardKey.globalMaxKeyString },
    chunks,
  )
}

for (const count of [1_000, 100_000, 1_000_000]) {
  globalThis.gc?.()
  const before = process.memoryUsage()
  const table = tableOf(count)
  globalThis.gc?.()
  const after = process.memoryUsage()
  chunkCount = count
  print(
    'memory of each',
    `${((after.heapUsed + after.external - before.heapUsed - before.external) / count).toFixed(0)} bytes`,
  )
  const placement: CollectionPlacement = {
    ns: 'db.c',
    uuid: new Uint8Array(16),
    shardKey,
    unique: false,
    isUnsplittable: false,
    defaultCollation: null,
    table,
  }
  const tenants = Array.from({ length: 4096 }, (_, i) => (i * 7919) % Math.floor(count / 10))
  const documents = tenants.map((tenant, i) =>
    encode({
      _id: new ObjectId(),
      tenant: `t${String(tenant).padStart(6, '0')}`,
      ts: (i * 37) % 10_000,
      amount: i,
      name: `customer ${i}`,
    }),
  )
  const keys = tenants.map((tenant, i) => place(tenant, (i * 37) % 10_000))
  const filters = tenants.map((tenant, i) =>
    encode({ tenant: `t${String(tenant).padStart(6, '0')}`, ts: (i * 37) % 10_000 }),
  )
  const ranges = tenants.map((tenant) => encode({ tenant: `t${String(tenant).padStart(6, '0')}` }))
  measure('lookup of a KeyString', 400_000, (i) => table.shardOf(keys[i & 4095]!).length)
  measure('insert: key out of the document and lookup', 400_000, (i) => {
    const key = shardKey.extract(documents[i & 4095]!)
    return typeof key === 'string' ? 0 : table.shardOf(key.keyString).length
  })
  measure('the same through decode', 40_000, (i) => {
    const document = decode(documents[i & 4095]!)
    const key = shardKey.keyFromValues(
      new Map([
        ['tenant', toRawValue(document['tenant'])],
        ['ts', toRawValue(document['ts'])],
      ]),
    )!
    return table.shardOf(key.keyString).length
  })
  measure(
    'query: compile the filter and target one key',
    100_000,
    (i) => targetFilter(placement, compileFilter(filters[i & 4095]!, context)).shards.length,
  )
  measure(
    'query: compile the filter and target a prefix',
    50_000,
    (i) => targetFilter(placement, compileFilter(ranges[i & 4095]!, context)).shards.length,
  )
  measure(
    'query: broadcast',
    100_000,
    () => targetFilter(placement, compileFilter(emptyDocument, context)).shards.length,
  )
  const entries = [...table.chunks()]
  // Flat strings, as KeyStrings are: a concatenation would be flattened during the measurement.
  const middles = Array.from({ length: 4_000 }, (_, i) =>
    Buffer.from(`${entries[(i * 7919) % (count - 1)]!.min}\x01`, 'latin1').toString('latin1'),
  )
  let minor = count
  measure('split, with a new snapshot', 4_000, (i) => {
    const chunk = entries[(i * 7919) % (count - 1)]!
    const middle = middles[i]!
    minor += 2
    return table.withChanges([
      { ...chunk, max: middle, minor: minor - 1 },
      { ...chunk, min: middle, minor },
    ]).chunkCount
  })
  measure('move with its control chunk, with a new snapshot', 4_000, (i) => {
    const chunk = entries[(i * 7919) % (count - 1)]!
    return table.withChanges([
      { ...chunk, shard: 'shard7', major: 2, minor: 0 },
      { ...entries[((i * 7919) % (count - 1)) + 1]!, major: 2, minor: 1 },
    ]).chunkCount
  })
}
console.log(sink > 0 ? '' : 'nothing ran')
