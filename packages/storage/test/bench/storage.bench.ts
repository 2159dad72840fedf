/**
 * By hand: `node --expose-gc dist/test/bench/storage.bench.js [documents]`. Point reads against `Map.get`, an index against the bare
 * tree under it, each pair in turns; prints medians of operations a second and their ratio, and memory a document.
 */
import sortedBtree from 'sorted-btree'
import { encode, encodeKeyString, findField, ObjectId, toRawValue, type RawValue } from '@shardlab/bson'
import { compileFilter } from '@shardlab/query'
import { createMemoryEngine, encodeLogEntry, executePlan, planQuery, type LogEntry } from '../../src/index.js'

const count = Number(process.argv[2] ?? 200_000)
const rounds = 7
const uuid = Buffer.alloc(16)

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1]!
}

/** Operations a second of each, measured in turns. */
function compare(names: readonly string[], operations: number, ...runs: (() => void)[]): void {
  const rates = runs.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    runs.forEach((run, i) => {
      const start = process.hrtime.bigint()
      run()
      rates[i]!.push((operations * 1e9) / Number(process.hrtime.bigint() - start))
    })
  }
  const medians = rates.map(median)
  const shown = names.map((name, i) => `${name} ${(medians[i]! / 1e6).toFixed(2)} M/s`).join('   ')
  console.log(`${shown}${medians.length > 1 ? `   ratio ${(medians[0]! / medians[1]!).toFixed(2)}` : ''}`)
}

let increment = 0
function entry(op: LogEntry['op'], ns: string, object: Uint8Array, id: RawValue | null = null): LogEntry {
  return { ts: [1, ++increment], op, ns, uuid, object, id, session: null, wallMs: 0 }
}

const documents = Array.from({ length: count }, (_, i) =>
  encode({ _id: new ObjectId(), a: i % 1000, b: (i * 7919) % count, text: 'x'.repeat(80) }),
)
const ids = documents.map((document) => findField(document, '_id')!)
const order = Array.from({ length: count }, (_, i) => (i * 7919 + 13) % count)

globalThis.gc?.()
const before = process.memoryUsage().rss
const engine = createMemoryEngine()
engine.apply(entry('c', 'db.$cmd', encode({ create: 'c' })))
const startInsert = process.hrtime.bigint()
for (const document of documents) engine.apply(entry('i', 'db.c', document))
const insertNs = Number(process.hrtime.bigint() - startInsert) / count
globalThis.gc?.()
console.log(
  `${count} documents of ${documents[0]!.length} bytes: ${((process.memoryUsage().rss - before) / count).toFixed(0)} bytes of RSS each; first insert of all ${insertNs.toFixed(0)} ns each`,
)

const collection = engine.collection('db.c')!
const map = new Map(documents.map((document, i) => [encodeKeyString([ids[i]]), document]))
const keys = ids.map((id) => encodeKeyString([id]))
let sink = 0
compare(
  ['_id point read', 'Map.get on ready keys', 'Map.get on encoded keys'],
  count,
  () => {
    for (const i of order) sink += collection.findById(ids[i]!)!.document.length
  },
  () => {
    for (const i of order) sink += map.get(keys[i]!)!.length
  },
  () => {
    for (const i of order) sink += map.get(encodeKeyString([ids[i]]))!.length
  },
)

const compareKeys = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const bare = new sortedBtree.default<string, number>(undefined, compareKeys, 64)
engine.apply(entry('c', 'db.$cmd', encode({ createIndexes: 'c', v: 2, key: { b: 1 }, name: 'b_1' })))
const index = collection.index('b_1')!
const bareKeys: string[] = []
const all = index.seek({})
for (let recordId = all.next(); recordId >= 0; recordId = all.next()) {
  bareKeys.push(all.key)
  bare.set(all.key, recordId)
}
compare(
  ['index scan of 100', 'bare tree'],
  2000 * 100,
  () => {
    for (let i = 0; i < 2000; i++) {
      const cursor = index.seek({ low: bareKeys[order[i]!]! })
      for (let n = 0; n < 100; n++) sink += cursor.next()
    }
  },
  () => {
    const reused: [string, number] = ['', 0]
    for (let i = 0; i < 2000; i++) {
      const cursor = bare.entries(bareKeys[order[i]!]!, reused)
      for (let n = 0; n < 100; n++) {
        const step = cursor.next()
        if (step.done !== true) sink += step.value[1]
      }
    }
  },
)

const context = { nowMs: 0, random: (): number => 0 }
const filter = compileFilter(encode({ b: { $gte: 10, $lt: 10_000 } }), context)
compare(['index range with fetch and filter, rows'], 9990, () => {
  const rows = executePlan(planQuery(collection, { filter }))
  while (rows.next() !== null) sink++
})
const none = compileFilter(encode({ a: -1 }), context)
compare(['collection scan with a filter, documents'], count, () => {
  const rows = executePlan(planQuery(collection, { filter: none, hint: encode({ $natural: 1 }) }))
  while (rows.next() !== null) sink++
})
const byId = ids.slice(0, 20_000).map((id) => compileFilter(encode({ _id: new ObjectId(Buffer.from(id.slice())) }), context))
compare(['plan and execute {_id}'], byId.length, () => {
  for (const one of byId) if (executePlan(planQuery(collection, { filter: one })).next() !== null) sink++
})
compare(
  ['update with 2 indexes', 'log entry encoded'],
  20_000,
  () => {
    for (let i = 0; i < 20_000; i++) engine.apply(entry('u', 'db.c', documents[order[i]!]!, ids[order[i]!]!))
  },
  () => {
    for (let i = 0; i < 20_000; i++) sink += encodeLogEntry(entry('u', 'db.c', documents[order[i]!]!, ids[order[i]!]!)).length
  },
)
compare(['update with a snapshot every 100'], 20_000, () => {
  for (let i = 0; i < 20_000; i++) {
    if (i % 100 === 0) sink += collection.snapshot().count
    engine.apply(entry('u', 'db.c', documents[order[i]!]!, ids[order[i]!]!))
  }
})
const extra = Array.from({ length: 50_000 }, (_, i) => encode({ _id: i, b: (order[i % count]! * 31) % count }))
compare(
  ['insert and delete with 2 indexes', 'bare tree set and delete twice, Map set and delete'],
  extra.length,
  () => {
    for (const document of extra) engine.apply(entry('i', 'db.c', document))
    for (const document of extra) engine.apply(entry('d', 'db.c', document, findField(document, '_id')!))
  },
  () => {
    const other = extra.map((_, i) => encodeKeyString([toRawValue(i)]))
    for (let i = 0; i < extra.length; i++) {
      bare.set(`${other[i]!}1`, i)
      bare.set(`${other[i]!}2`, i)
      map.set(other[i]!, extra[i]!)
    }
    for (let i = 0; i < extra.length; i++) {
      bare.delete(`${other[i]!}1`)
      bare.delete(`${other[i]!}2`)
      map.delete(other[i]!)
    }
  },
)
if (sink === 0) console.log(sink)
