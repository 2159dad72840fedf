import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { LiveState, type Delta, type LiveChunk } from '../src/index.js'
import { ChunkHistory } from '../src/page/chunk-history.js'

const keys = ['10', '20', '2a', '30', '40', '50', '60', '70']
const ns = 'a.b'
const cluster = { id: 'a', uri: 'mongodb://h/', topology: 'sharded', emulate: '7.0', clock: 'real' } as const
const chunk = (key: string, shard: string): LiveChunk => ({ key, min: `{"a":"${key}"}`, shard })

/** Deltas, each with the time at which it arrives. */
const change = fc
  .tuple(fc.nat(keys.length - 1), fc.nat(keys.length), fc.nat(255), fc.constantFrom('s1', 's2'), fc.nat(1))
  .map(([a, b, bits, shard, laterMs]) => {
    const [from, to] = a <= b ? [a, b] : [b, a]
    const chunks = keys.slice(from, to).flatMap((key, i) => ((bits >> i) & 1 ? [chunk(key, shard)] : []))
    const delta: Delta = { type: 'chunks', ns, from: keys[from]!, to: keys[to] ?? null, chunks }
    return { delta, laterMs }
  })

t.test('the history has the chunks after each moment', async (t) => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const state = new LiveState()
      const history = new ChunkHistory()
      state.apply({ type: 'snapshot', cluster, recordedSinceMs: 0 })
      const collection = { ns, shardKey: '{"a":1}', unsplittable: false, balanced: true, zones: [] }
      state.apply({ type: 'collection', collection })
      state.apply({ type: 'chunks', ns, from: '', to: null, chunks: keys.map((key) => chunk(key, 's0')) })
      state.apply({ type: 'ready' })
      const seen = [[...state.chunksOf(ns)]]
      const times: number[] = []
      let atMs = 0
      const copies: (readonly [ChunkHistory, LiveState, number])[] = []
      for (const { delta, laterMs } of changes) {
        if (state.chunksOf(ns).length === 0) break
        copies.push([history.copy(), state.copy(), seen.length])
        atMs += laterMs
        history.note(delta, state, atMs)
        state.apply(delta)
        if (times.at(-1) === atMs) seen.pop()
        else times.push(atMs)
        seen.push([...state.chunksOf(ns)])
      }
      assert.deepEqual(history.timesOf(ns), times)
      for (const [count, chunks] of seen.entries())
        assert.deepEqual(history.after(count, ns, state.chunksOf(ns)), chunks)
      // A moment may have changed after the last copy.
      for (const [copy, of, count] of copies)
        assert.deepEqual(copy.after(count - 2, ns, of.chunksOf(ns)), seen[Math.max(0, count - 2)])
    }),
  )
  t.pass('all sequences')
})

t.test('the oldest moments are dropped, and a snapshot restarts the history', async (t) => {
  const state = new LiveState()
  const history = new ChunkHistory()
  const many = Array.from({ length: 60_000 }, (_, i) => chunk(String(100_000 + i), 's1'))
  const all: Delta = { type: 'chunks', ns, from: '', to: null, chunks: many }
  state.apply({ type: 'snapshot', cluster, recordedSinceMs: 0 })
  state.apply(all)
  state.apply({ type: 'ready' })
  for (let atMs = 1; atMs <= 5; atMs++) {
    history.note(all, state, atMs)
    state.apply(all)
  }
  t.same(history.timesOf(ns), [3, 4, 5])
  history.note({ type: 'snapshot', cluster, recordedSinceMs: 0 }, state, 6)
  t.same(history.timesOf(ns), [])
})
