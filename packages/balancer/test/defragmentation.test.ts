import t from 'tap'
import {
  boundsOf,
  MergeAndMeasureChunksPhase,
  MergeChunksPhase,
  MoveAndMergeChunksPhase,
  runsOf,
  smallChunkBytes,
  SplitChunksPhase,
  type KnownChunk,
  type ShardLoad,
} from '../src/index.js'

const small = 25
const maxChunkSizeBytes = 100
const empty = new Uint8Array([5, 0, 0, 0, 0])
const noZones = () => ''

/** `a10 b-` …: shard and bytes of each chunk, `-`: not measured; chunk n is [n, n + 1). */
function chunksOf(text: string): KnownChunk[] {
  return text.split(' ').map((each, at) => {
    const bytes = each.slice(1)
    const key = (position: number) => String(position).padStart(2, '0')
    return {
      min: key(at),
      max: key(at + 1),
      minDocument: empty,
      maxDocument: empty,
      shard: each[0]!,
      isJumbo: false,
      estimatedBytes: bytes === '-' ? null : Number(bytes),
    }
  })
}

function loads(text: string): ShardLoad[] {
  return text
    .split(' ')
    .map((each) => ({ id: each[0]!, bytes: Number(each.slice(1).replace('!', '')), isDraining: each.endsWith('!') }))
}

const phaseOf = (chunks: string, shards: string, zoneOf: (range: { min: string }) => string = noZones) =>
  new MoveAndMergeChunksPhase(chunksOf(chunks), loads(shards), zoneOf, maxChunkSizeBytes)

/** `from>to chunk`; null: no move. */
function next(phase: MoveAndMergeChunksPhase, shards: string) {
  const move = phase.nextMove(new Set(shards))
  return move === null ? null : `${move.from}>${move.to} ${Number(move.range.min)}`
}

t.test('a chunk is small up to a quarter of the chunk size', async (t) => {
  t.equal(smallChunkBytes(maxChunkSizeBytes), small)
  t.equal(smallChunkBytes(128 * 1024 * 1024), 33_554_425)
  t.equal(phaseOf('a25 b90', 'a25 b90').remaining, 1)
  t.equal(phaseOf('a26 b90', 'a26 b90').isComplete, true)
})

t.test('the fullest shard donates its smallest chunk', async (t) => {
  t.equal(next(phaseOf('a9 b90 a5 b90 c3 b90', 'a90 b10 c3'), 'abc'), 'a>b 2')
  t.equal(next(phaseOf('a9 b90 a5 b90 c3 b90', 'a9 b10 c30'), 'abc'), 'c>b 4')
  t.equal(
    next(phaseOf('a9 b90 a5 b90 c3 b90', 'a90 b10 c3'), 'bc'),
    'c>b 4',
    'shards that take part in something are left alone',
  )
})

t.test('between two neighbours the better one is chosen', async (t) => {
  t.equal(next(phaseOf('b90 a9 c90', 'a9 b90 c10'), 'abc'), 'a>c 1', 'equal ones: to the shard with less')
  t.equal(next(phaseOf('b90 a9 c90', 'a9 b10 c90'), 'abc'), 'a>b 1')
  t.equal(next(phaseOf('b90 a9 c90', 'a9 b90 c90'), 'abc'), 'a>c 1', 'the one behind when nothing decides')
  t.equal(next(phaseOf('b4 a9 c90', 'a99 b4 c90'), 'abc'), 'a>c 1', 'to a larger one rather than to a smaller one')
  t.equal(next(phaseOf('b20 a9 c10', 'a99 b90 c10'), 'abc'), 'a>b 1', 'to one with which it is small no more')
  t.equal(next(phaseOf('b20 a9 c90', 'a99 b90 c1'), 'abc'), 'a>b 1', 'and best to a small one: then both are gone')
})

t.test('a chunk joins no neighbour in another zone or on a draining shard', async (t) => {
  const zoneOf = ({ min }: { min: string }) => (Number(min) < 1 ? 'EU' : '')
  t.equal(next(phaseOf('b90 a9 c90', 'a9 b1 c90', zoneOf), 'abc'), 'a>c 1')
  t.equal(next(phaseOf('b90 a9 c90', 'a9 b1! c90'), 'abc'), 'a>c 1')
  const alone = phaseOf('b90 a9', 'a9 b1!')
  t.equal(next(alone, 'ab'), null)
  t.equal(alone.isComplete, true, 'a piece without a possible neighbour is dropped')
})

t.test('joined chunks are one chunk, which may still be small', async (t) => {
  const phase = phaseOf('a5 b6 c7 b90', 'a5 b6 c7')
  const move = phase.nextMove(new Set('abc'))!
  t.same([move.from, move.to], ['c', 'b'], 'the fullest shard')
  t.equal(next(phase, 'bc'), null, 'what is under way is left alone')
  phase.moved(move, 'done')
  const action = phase.nextAction()!
  t.match(action, { kind: 'merge', shard: 'b', range: { min: '02', max: '04' } })
  phase.applied(action, { status: 'retry', points: [] })
  t.match(phase.nextAction(), { kind: 'merge', range: { min: '02' } })
  phase.applied(action, { status: 'done', points: [] })
  t.equal(phase.remaining, 2)
  t.equal(next(phase, 'abc'), null)
  t.match(
    phase.nextAction(),
    { kind: 'merge', range: { min: '01', max: '04' } },
    'what is on the same shard now needs no migration',
  )
})

t.test('a failed migration is retried, avoided or ends the phase, by its error', async (t) => {
  const outcome = (what: 'retry' | 'too-large' | 'not-deleted-yet' | 'failed') => {
    const phase = phaseOf('b90 a9', 'a9 b90')
    phase.moved(phase.nextMove(new Set('ab'))!, what)
    return phase
  }
  t.equal(next(outcome('retry'), 'ab'), 'a>b 1')
  t.equal(outcome('too-large').isComplete, true)
  const waiting = outcome('not-deleted-yet')
  t.equal(next(waiting, 'ab'), null, 'later')
  t.equal(waiting.isComplete, false)
  const again = waiting.nextMove(new Set('ab'))!
  t.equal(again.to, 'b')
  waiting.moved(again, 'not-deleted-yet')
  t.equal(next(waiting, 'ab'), null, 'and the second time never')
  t.equal(waiting.isComplete, true)
  const failed = outcome('failed')
  t.same([failed.isComplete, failed.next], [true, 'mergeAndMeasureChunks'])
  t.equal(phaseOf('a- b90', 'a1 b1').next, 'mergeAndMeasureChunks', 'the size of a chunk is not measured')
})

t.test('neighbours on one shard need no migration', async (t) => {
  const phase = phaseOf('a9 a90 b90', 'a99 b90')
  t.equal(next(phase, 'ab'), null)
  t.match(phase.nextAction(), { kind: 'merge', shard: 'a', range: { min: '00', max: '02' } })
})

t.test('phases without migrations take shards in turn', async (t) => {
  const chunks = chunksOf('a- a- b- a9 b7 b8')
  t.same(
    runsOf(chunks, noZones).map((run) => run.length),
    [2, 1, 1, 2],
  )
  t.match(boundsOf(chunks.slice(0, 2)), { min: '00', max: '02' })
  const measure = new MergeAndMeasureChunksPhase(chunks, noZones)
  t.equal(measure.remaining, 3, 'one is measured already')
  const seen: string[] = []
  for (let action = measure.nextAction(); action !== null; action = measure.nextAction()) {
    seen.push(`${action.kind} ${action.shard} ${action.range.min}`)
    measure.applied(action, { status: 'done', points: [] })
  }
  t.same(seen, ['merge a 00', 'measure b 02', 'measure a 00', 'merge b 04', 'measure b 04'], 'shards by turns')
  t.same([measure.isComplete, measure.next], [true, 'moveAndMergeChunks'])
  const again = new MergeAndMeasureChunksPhase(chunks, noZones)
  again.applied(again.nextAction()!, { status: 'failed', points: [] })
  t.same([again.isComplete, again.next, again.nextAction()], [true, 'mergeAndMeasureChunks', null])
  t.same(
    [new MergeChunksPhase(chunks, noZones, false).remaining, new MergeChunksPhase(chunks, noZones, false).next],
    [2, 'finished'],
  )
  t.equal(new MergeChunksPhase(chunks, noZones, true).next, 'splitChunks')
  const split = new SplitChunksPhase(chunksOf('a- b100 b101'), maxChunkSizeBytes)
  t.equal(split.remaining, 2)
  const find = split.nextAction()!
  split.applied(find, { status: 'done', points: [empty] })
  t.match(
    [split.nextAction(), split.nextAction()],
    [
      { kind: 'find-split-points', shard: 'b' },
      { kind: 'split', shard: 'a', points: [empty] },
    ],
  )
})
