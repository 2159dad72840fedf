/**
 * The storage of one shard alone: each figure next to its bound, measured in turns in the same run.
 */
import { createRequire } from 'node:module'
import { cpus } from 'node:os'
import { encode, encodeKeyString, findField, ObjectId, type RawValue } from '@shardlab/bson'
import { compileFilter } from '@shardlab/query'
import {
  createMemoryEngine,
  executePlan,
  planQuery,
  type Collection,
  type LogEntry,
  type StorageEngine,
} from '@shardlab/storage'
import type { BenchResult } from './bench.js'
import { atLeast, atMost } from './goals.js'

type Row = BenchResult['rows'][number]

const documentCount = 200_000
const rounds = 7
const uuid = Buffer.alloc(16)

/** The part of the tree's interface that is used here. */
interface Tree {
  readonly size: number
  set(key: string, value: number): boolean
  entries(from: string, reused: [string, number]): IterableIterator<[string, number]>
}

// The tree that indexes used before, and labels still use.
const { default: BTree } = createRequire(import.meta.resolve('@shardlab/storage'))('sorted-btree') as {
  default: new (entries: undefined, compare: (a: string, b: string) => number, maxNodeSize: number) => Tree
}

let increment = 0
let sink = 0

function entry(op: LogEntry['op'], ns: string, object: Uint8Array, id: RawValue | null = null): LogEntry {
  return { ts: [1, ++increment], op, ns, uuid, object, id, session: null, difference: null, term: 1, wallMs: 0 }
}

/** Medians of operations per second; the runs take turns. */
function ratesOf(operations: number, runs: readonly (() => void)[]): number[] {
  const rates = runs.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    runs.forEach((run, i) => {
      const startedNs = process.hrtime.bigint()
      run()
      rates[i]!.push((operations * 1e9) / Number(process.hrtime.bigint() - startedNs))
    })
  }
  return rates.map((each) => each.sort((a, b) => a - b)[rounds >> 1]!)
}

function ratio(name: string, against: string, [own, bound]: readonly number[], limit?: number): Row {
  return {
    name: `${name}, against ${against}`,
    value: `${(own! / 1e6).toFixed(2)} M/s, ${(own! / bound!).toFixed(2)} ×`,
    ...(limit === undefined ? {} : atLeast(limit, ' ×', own! / bound!)),
  }
}

export async function measure(): Promise<BenchResult> {
  const documents = Array.from({ length: documentCount }, (_, i) =>
    encode({ _id: new ObjectId(), a: i % 1000, b: (i * 7919) % documentCount, text: 'x'.repeat(80) }),
  )
  const ids = documents.map((document) => findField(document, '_id')!)
  const order = Array.from({ length: documentCount }, (_, i) => (i * 7919 + 13) % documentCount)
  globalThis.gc?.()
  const rssBefore = process.memoryUsage().rss
  const engine = filled(documents)
  globalThis.gc?.()
  const bytesEach = (process.memoryUsage().rss - rssBefore) / documentCount
  const collection = engine.collection('db.c')!
  return {
    title: `storage: ${documentCount} documents of ${documents[0]!.length} bytes, one thread`,
    rows: [
      ...pointReads(collection, documents, ids, order),
      ...inserts(documents),
      ...indexes(engine, collection, order),
      ...scans(collection),
      {
        name: 'memory, a document with its _id index, relative to its BSON',
        value: `${bytesEach.toFixed(0)} bytes, ${(bytesEach / documents[0]!.length).toFixed(1)} ×`,
        ...atMost(2, ' ×', bytesEach / documents[0]!.length),
      },
    ],
    note: `Figures of the emulator, not of MongoDB. Node ${process.version}, ${cpus().length} cores; medians of ${rounds} rounds, each pair in turns (${sink === 0 ? 0 : 1}).`,
  }
}

function filled(documents: readonly Uint8Array[]): StorageEngine {
  const engine = createMemoryEngine()
  engine.apply(entry('c', 'db.$cmd', encode({ create: 'c' })))
  for (const document of documents) engine.apply(entry('i', 'db.c', document))
  return engine
}

function pointReads(
  collection: Collection,
  documents: readonly Uint8Array[],
  ids: readonly RawValue[],
  order: readonly number[],
): Row[] {
  const keys = ids.map((id) => encodeKeyString([id]))
  const map = new Map(documents.map((document, i) => [keys[i]!, document]))
  const context = { now: () => 0, random: (): number => 0 }
  const [own, ready, encoded] = ratesOf(documentCount, [
    () => {
      for (const i of order) sink += collection.findById(ids[i]!)!.document.length
    },
    () => {
      for (const i of order) sink += map.get(keys[i]!)!.length
    },
    () => {
      for (const i of order) sink += map.get(encodeKeyString([ids[i]]))!.length
    },
  ])
  const filters = ids
    .slice(0, 20_000)
    .map((id) => compileFilter(encode({ _id: new ObjectId(Buffer.from(id.slice())) }), context))
  const planned = ratesOf(filters.length, [
    () => {
      for (const filter of filters) if (executePlan(planQuery(collection, { filter })).next() !== null) sink++
    },
    () => {
      for (let i = 0; i < filters.length; i++) sink += collection.findById(ids[i]!)!.document.length
    },
  ])
  return [
    ratio('read by _id', 'Map.get, keys at hand', [own!, ready!], 0.35),
    ratio('read by _id', 'Map.get, keys made', [own!, encoded!]),
    ratio('plan and execute {_id}', 'the read alone', planned),
  ]
}

function inserts(documents: readonly Uint8Array[]): Row[] {
  const [alone, read, bare] = ratesOf(documents.length, [
    () => {
      sink += filled(documents).collection('db.c')!.count
    },
    () => {
      // Reading the size needs all keys to be added.
      sink += filled(documents).collection('db.c')!.indexes()[0]!.entries
    },
    () => {
      const tree = newTree()
      const map = new Map<string, Uint8Array>()
      documents.forEach((document, i) => {
        const key = encodeKeyString([findField(document, '_id')])
        tree.set(key, i)
        map.set(key, new Uint8Array(document))
      })
      sink += tree.size + map.size
    },
  ])
  const against = 'the same keys into a bare sorted-btree and a Map'
  return [ratio('insert', against, [alone!, bare!]), ratio('insert, then a read by the index', against, [read!, bare!])]
}

function newTree(): Tree {
  return new BTree(undefined, (a, b) => (a < b ? -1 : a > b ? 1 : 0), 64)
}

function indexes(engine: StorageEngine, collection: Collection, order: readonly number[]): Row[] {
  const build = encode({ createIndexes: 'c', v: 2, key: { b: 1 }, name: 'b_1' })
  const drop = encode({ dropIndexes: 'c', index: 'b_1' })
  const builds = ratesOf(documentCount, [
    () => {
      engine.apply(entry('c', 'db.$cmd', build))
      engine.apply(entry('c', 'db.$cmd', drop))
    },
    () => {
      const keys: [string, number][] = []
      for (const { document, recordId } of collection.scan())
        keys.push([encodeKeyString([findField(document, 'b')]), recordId])
      keys.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      const tree = newTree()
      for (const [key, recordId] of keys) tree.set(key, recordId)
      sink += tree.size
    },
  ])
  engine.apply(entry('c', 'db.$cmd', build))
  const index = collection.index('b_1')!
  const bare = newTree()
  const keys: string[] = []
  const all = index.seek({})
  for (let recordId = all.next(); recordId >= 0; recordId = all.next()) {
    keys.push(all.key)
    bare.set(all.key, recordId)
  }
  const seeks = 2000
  const scanned = ratesOf(seeks * 100, [
    () => {
      for (let i = 0; i < seeks; i++) {
        const cursor = index.seek({ low: keys[order[i]!]! })
        for (let n = 0; n < 100; n++) sink += cursor.next()
      }
    },
    () => {
      const reused: [string, number] = ['', 0]
      for (let i = 0; i < seeks; i++) {
        const cursor = bare.entries(keys[order[i]!]!, reused)
        for (let n = 0; n < 100; n++) {
          const step = cursor.next()
          if (step.done !== true) sink += step.value[1]
        }
      }
    },
  ])
  return [
    ratio('index build, documents', 'a sorted list of the keys into a bare sorted-btree', builds),
    ratio('index scan of 100, entries', 'a bare sorted-btree', scanned, 0.9),
  ]
}

function scans(collection: Collection): Row[] {
  const context = { now: () => 0, random: (): number => 0 }
  const range = compileFilter(encode({ b: { $gte: 10, $lt: 10_010 } }), context)
  const none = compileFilter(encode({ a: -1 }), context)
  const natural = encode({ $natural: 1 })
  const index = collection.index('b_1')!
  const rows = (request: Parameters<typeof planQuery>[1]): void => {
    const executor = executePlan(planQuery(collection, request))
    for (let row = executor.next(); row !== null; row = executor.next()) sink += row.document.length
  }
  return [
    ratio(
      'range of an index, rows fetched',
      'its entries and their records alone',
      ratesOf(10_000, [
        () => rows({ filter: range }),
        () => {
          const cursor = index.seek({ low: encodeKeyString([findField(encode({ b: 10 }), 'b')]) })
          for (let n = 0; n < 10_000; n++) sink += collection.get(cursor.next())!.document.length
        },
      ]),
    ),
    ratio(
      'collection scan with a filter, documents',
      'the filter alone over the records',
      ratesOf(documentCount, [
        () => rows({ filter: none, hint: natural }),
        () => {
          for (const { document } of collection.scan()) if (none.matches(document)) sink++
        },
      ]),
    ),
  ]
}
