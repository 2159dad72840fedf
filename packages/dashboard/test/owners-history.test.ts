import t from 'tap'
import { LiveState, type Delta, type LiveChunk } from '../src/index.js'
import { ChunkHistory } from '../src/page/chunk-history.js'
import { ownersHistoryOf } from '../src/page/views/owners-history.js'

const ns = 'a.b'
const shards = ['s0', 's1']
const cluster = { id: 'a', uri: 'mongodb://h/', topology: 'sharded', emulate: '7.0', clock: 'real' } as const
const chunk = (key: string, shard: string): LiveChunk => ({ key, min: `{"a":${Number(key)}}`, shard })

function historyOf(moves: number) {
  const state = new LiveState()
  const history = new ChunkHistory()
  const note = (delta: Delta, atMs: number): void => {
    history.note(delta, state, atMs)
    state.apply(delta)
  }
  state.apply({ type: 'snapshot', cluster, recordedSinceMs: 0 })
  state.apply({ type: 'chunks', ns, from: '', to: null, chunks: [chunk('10', 's0'), chunk('20', 's0')] })
  state.apply({ type: 'ready' })
  for (let move = 1; move <= moves; move++)
    note({ type: 'chunks', ns, from: '20', to: null, chunks: [chunk('20', `s${move % 2}`)] }, move)
  return ownersHistoryOf({ ns, zones: [] }, state.chunksOf(ns), history, shards)
}

t.test('the owners over time are those before the first change and after each', async (t) => {
  const { owners, times } = historyOf(3)
  t.same(times, [null, 1, 2, 3])
  const [one, two] = [[[0, 2, 0]], [[0, 1, 0], [1, 2, 1]]] // prettier-ignore
  t.same(owners!.rows, [one, two, one, two])
  t.same(owners!.widths[0], { name: 'chunks', title: 'number of chunks', shares: [0.5, 0.5] })
})

t.test('a long history has at most 61 rows, among them the first and the last', async (t) => {
  for (const moves of [0, 59, 60, 61, 200, 1000]) {
    const { owners, times } = historyOf(moves)
    t.ok(times.length <= 61 && times.length >= Math.min(moves + 1, 30), `${times.length} of ${moves}`)
    t.equal(owners!.rows.length, times.length)
    t.equal(times[0], null)
    t.equal(times.at(-1), moves === 0 ? null : moves)
  }
})
