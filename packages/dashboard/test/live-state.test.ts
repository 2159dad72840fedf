import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { chunkDeltas, LiveState, type Delta, type LiveChunk } from '../src/index.js'

const keys = ['10', '20', '2a', '2b', '30', '3f', '40', '50', '60', '70']
const shard = fc.constantFrom('shard01', 'shard02', 'shard03')
const cluster = { id: 'a', uri: 'mongodb://h/', topology: 'sharded', emulate: '7.0', clock: 'real' } as const

const chunk = (key: string, owner: string): LiveChunk => ({ key, min: `{"a":"${key}"}`, shard: owner })

/** A range of keys, with a chunk at its start and at some keys in it. */
const chunks = fc
  .tuple(fc.nat(keys.length - 1), fc.nat(keys.length), fc.array(shard, { minLength: 10, maxLength: 10 }), fc.nat(1023))
  .map(([a, b, shards, bits]): Delta => {
    const [from, to] = a <= b ? [a, b] : [b, a]
    const inside = keys.slice(from, to).filter((_, i) => i === 0 || (bits & (1 << i)) !== 0)
    const rows = inside.map((key, i) => chunk(key, shards[i]!))
    return { type: 'chunks', ns: 'a.b', from: keys[from]!, to: keys[to] ?? null, chunks: rows }
  })

const delta: fc.Arbitrary<Delta> = fc.oneof(
  { weight: 6, arbitrary: chunks },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Delta>(
      { type: 'collection-removed', ns: 'a.b' },
      { type: 'shard-removed', id: 'shard01' },
      { type: 'migration-ended', id: 'm' },
      { type: 'catalog', catalog: { readAtMs: 5, error: 'down' } },
      { type: 'clock', clock: { nowMs: 5, speed: 10, untilMs: null } },
    ),
  },
  { weight: 1, arbitrary: shard.map((id): Delta => ({ type: 'shard', shard: { id, draining: false, zones: [] } })) },
  {
    weight: 1,
    arbitrary: fc.constant<Delta>({
      ...{ type: 'collection' },
      collection: { ns: 'a.b', shardKey: '{"a":1}', unsplittable: false, balanced: true, zones: [] },
    }),
  },
  {
    weight: 1,
    arbitrary: fc.nat(400_000).map((atMs): Delta => ({ type: 'operations', operations: operationsAt(atMs) })),
  },
  { weight: 1, arbitrary: fc.nat(99).map((at): Delta => ({ type: 'event', event: limitAt(at) })) },
)

const limitAt = (atMs: number) => ({ type: 'limit', atMs, member: 'shard01', limit: 'l', value: 1 }) as const

const operationsAt = (atMs: number) =>
  ({
    type: 'operations',
    atMs,
    fromMs: atMs,
    mongos: 'mongos01',
    shapes: [],
    shards: [],
    chunks: [],
    samples: [],
  }) as const

function contentOf(state: LiveState): unknown {
  const { cluster, members, shards, collections, migrations, faults, balancer, catalog, clock, events, operations } =
    state
  const maps = [members, shards, collections, migrations].map((map) => Object.fromEntries(map))
  const rows = [...collections.keys()].map((ns) => [ns, state.chunksOf(ns)])
  return { cluster, maps, rows, faults, balancer, catalog, clock, events, operations }
}

t.test('a snapshot, sent as JSON, makes a reader that joins later equal to one that was there', async (t) => {
  fc.assert(
    fc.property(fc.array(delta, { maxLength: 40 }), fc.array(delta, { maxLength: 20 }), (before, after) => {
      const first = new LiveState()
      first.apply({ type: 'snapshot', cluster, recordedSinceMs: 0 })
      // Chunks without a collection are no state.
      const usual: Delta = {
        ...{ type: 'collection' },
        collection: { ns: 'a.b', shardKey: '{"a":1}', unsplittable: false, balanced: true, zones: [] },
      }
      const sane = (each: Delta): readonly Delta[] => (each.type === 'collection-removed' ? [each, usual] : [each])
      for (const each of [usual, ...before.flatMap(sane)]) first.apply(each)
      const copy = first.copy()
      const copied = contentOf(copy)
      assert.deepEqual(copied, contentOf(first))
      const later = new LiveState()
      for (const each of JSON.parse(JSON.stringify([...first.snapshot()])) as Delta[]) later.apply(each)
      for (const each of after.flatMap(sane)) {
        first.apply(each)
        later.apply(each)
      }
      assert.deepEqual(contentOf(copy), copied)
      assert.equal(later.isReady, true)
      assert.deepEqual(contentOf(later), contentOf(first))
    }),
    { numRuns: 200 },
  )
  t.pass('all sequences')
})

t.test('chunks that a delta replaces are those that begin in its range', async (t) => {
  fc.assert(
    fc.property(fc.array(chunks, { maxLength: 30 }), (deltas) => {
      const state = new LiveState()
      const model = new Map<string, LiveChunk>()
      for (const delta of deltas as Extract<Delta, { type: 'chunks' }>[]) {
        state.apply(delta)
        for (const key of keys) if (key >= delta.from && (delta.to === null || key < delta.to)) model.delete(key)
        for (const each of delta.chunks) model.set(each.key, each)
      }
      const counted = [...state.countsOf('a.b').byShard].filter(([, count]) => count !== 0).toSorted()
      const byShard = new Map<string, number>()
      for (const { shard } of model.values()) byShard.set(shard, (byShard.get(shard) ?? 0) + 1)
      assert.deepEqual(counted, [...byShard].toSorted())
      assert.deepEqual(
        state.chunksOf('a.b'),
        keys.flatMap((key) => model.get(key) ?? []),
      )
    }),
  )
  t.pass('all sequences')
})

t.test('many chunks come in several deltas, and replace what was there', async (t) => {
  const many = Array.from({ length: 2500 }, (_, i) => chunk(String(10_000 + i), 'shard01'))
  const state = new LiveState()
  state.apply({
    type: 'chunks',
    ns: 'a.b',
    from: '',
    to: null,
    chunks: [chunk('1', 'shard02'), chunk('99', 'shard02')],
  })
  const deltas = [...chunkDeltas('a.b', many)]
  t.equal(deltas.length, 3)
  for (const delta of deltas) state.apply(delta)
  t.same(state.chunksOf('a.b'), many)
  state.apply({ type: 'chunks', ns: 'a.b', from: '', to: null, chunks: many.slice(0, 1500) })
  t.equal(state.chunksOf('a.b').length, 1500)
})

t.test('sums of operations are kept for two minutes, and samples for one', async (t) => {
  const state = new LiveState()
  const sample = { opId: 1, keys: [] } as never
  const add = (atMs: number): void =>
    state.apply({ type: 'operations', operations: { ...operationsAt(atMs), samples: [sample] } })
  for (const atMs of [0, 50_000, 100_000, 120_001]) add(atMs)
  t.same(
    state.operations.map(({ atMs, samples }) => [atMs, samples.length]),
    [
      [50_000, 0],
      [100_000, 1],
      [120_001, 1],
    ],
  )
  for (let i = 0; i < 2100; i++) add(120_001)
  t.equal(state.operations.length, 2000)
})

t.test('chunks that are sent again have another number of changes', async (t) => {
  const state = new LiveState()
  const chunks: Delta = { type: 'chunks', ns: 'a.b', from: '', to: null, chunks: [chunk('10', 'shard01')] }
  state.apply({ type: 'snapshot', cluster, recordedSinceMs: 0 })
  state.apply(chunks)
  const { changes } = state.countsOf('a.b')
  state.apply({ type: 'snapshot', cluster, recordedSinceMs: 0 })
  state.apply(chunks)
  t.not(state.countsOf('a.b').changes, changes)
})
