import fc from 'fast-check'
import t from 'tap'
import { RoutingTable, type ChunkEntry } from '../src/index.js'
import { check } from '@shardlab/bson/testing'
import { linesOf } from './support/placements.js'

const generation = ['64b7f0000000000000000001', 100, 1] as const
const bounds = { globalMin: '0000', globalMax: '9999' }
const entry = (min: string, max: string, shard: string, major: number, minor: number): ChunkEntry => ({
  min,
  max,
  shard,
  major,
  minor,
})
const one = () => RoutingTable.build(generation, bounds, [entry('0000', '9999', 'a', 1, 0)])

t.test('chunks are built into a table if they fill the key space', async (t) => {
  const table = RoutingTable.build(generation, bounds, [
    entry('5000', '9999', 'b', 1, 1),
    entry('0000', '5000', 'a', 1, 0),
  ])
  t.same(linesOf(table), ['0000..5000 a 1|0', '5000..9999 b 1|1'])
  t.same(table.version, [...generation, 1, 1])
  t.equal(table.chunkCount, 2)
  t.equal(table.lowestShard(), 'a')
  t.throws(
    () => RoutingTable.build(generation, bounds, [entry('0000', '4000', 'a', 1, 0), entry('5000', '9999', 'b', 1, 1)]),
    /gap or overlap/,
  )
  t.throws(
    () => RoutingTable.build(generation, bounds, [entry('0000', '6000', 'a', 1, 0), entry('5000', '9999', 'b', 1, 1)]),
    /gap or overlap/,
  )
  t.throws(() => RoutingTable.build(generation, bounds, [entry('0000', '5000', 'a', 1, 0)]), /end of the key space/)
  t.throws(() => RoutingTable.build(generation, bounds, [entry('0001', '9999', 'a', 1, 0)]), /gap or overlap/)
  t.throws(() => RoutingTable.build(generation, bounds, []), /end of the key space/)
  t.throws(
    () => RoutingTable.build(generation, bounds, [entry('0000', '0000', 'a', 1, 0), entry('0000', '9999', 'a', 1, 1)]),
    /gap or overlap/,
  )
})

t.test('a lower bound belongs to its chunk, an upper one to the next', async (t) => {
  const table = RoutingTable.build(generation, bounds, [
    entry('0000', '5000', 'a', 1, 0),
    entry('5000', '9999', 'b', 1, 1),
  ])
  t.equal(table.shardOf('0000'), 'a')
  t.equal(table.shardOf('4999'), 'a')
  t.equal(table.shardOf('5000'), 'b')
  t.equal(table.shardOf('9999'), 'b', 'the global maximum belongs to the last chunk')
  t.same(table.shardsInRanges([['1000', '4999']]), { shards: ['a'], chunks: 1 })
  t.same(table.shardsInRanges([['1000', '5000']]), { shards: ['a', 'b'], chunks: 2 }, 'the upper end is included')
  t.same(table.shardsInRanges([]), { shards: [], chunks: 0 })
})

t.test('a table applies a split, a move with its control chunk, and a merge', async (t) => {
  const split = one().withChanges([entry('0000', '4000', 'a', 1, 1), entry('4000', '9999', 'a', 1, 2)])
  t.same(linesOf(split), ['0000..4000 a 1|1', '4000..9999 a 1|2'])
  const moved = split.withChanges([entry('4000', '9999', 'b', 2, 0), entry('0000', '4000', 'a', 2, 1)])
  t.same(linesOf(moved), ['0000..4000 a 2|1', '4000..9999 b 2|0'])
  t.same(moved.versionOn('a').slice(3), [2, 1])
  t.same(moved.versionOn('b').slice(3), [2, 0])
  t.same(moved.versionOn('never').slice(3), [0, 0])
  t.same(moved.version.slice(3), [2, 1])
  const emptied = moved.withChanges([entry('0000', '4000', 'b', 3, 0)])
  t.same(emptied.owners(), ['b'])
  t.same(emptied.versionOn('a').slice(3), [0, 0], 'a shard without chunks has version 0|0')
  t.equal(emptied.chunksOn('a'), 0)
  const merged = emptied.withChanges([entry('0000', '9999', 'b', 3, 1)])
  t.same(linesOf(merged), ['0000..9999 b 3|1'])
  t.same(linesOf(split), ['0000..4000 a 1|1', '4000..9999 a 1|2'], 'older tables do not change')
})

t.test('after its newest chunk leaves, a shard has the version of its next newest one', async (t) => {
  const table = RoutingTable.build(generation, bounds, [
    entry('0000', '3000', 'a', 1, 0),
    entry('3000', '6000', 'a', 1, 1),
    entry('6000', '9999', 'a', 1, 2),
  ])
  t.same(
    table
      .withChanges([entry('6000', '9999', 'b', 2, 0)])
      .versionOn('a')
      .slice(3),
    [1, 1],
  )
})

t.test('a change in the middle of chunks keeps their remainders', async (t) => {
  const table = RoutingTable.build(generation, bounds, [
    entry('0000', '4000', 'a', 1, 0),
    entry('4000', '8000', 'b', 1, 1),
    entry('8000', '9999', 'c', 1, 2),
  ])
  t.same(linesOf(table.withChanges([entry('2000', '9000', 'd', 2, 0)])), [
    '0000..2000 a 1|0',
    '2000..9000 d 2|0',
    '9000..9999 c 1|2',
  ])
  t.same(linesOf(table.withChanges([entry('5000', '6000', 'd', 2, 0)])), [
    '0000..4000 a 1|0',
    '4000..5000 b 1|1',
    '5000..6000 d 2|0',
    '6000..8000 b 1|1',
    '8000..9999 c 1|2',
  ])
  t.same(linesOf(table.withChanges([entry('4000', '5000', 'd', 2, 0)])), [
    '0000..4000 a 1|0',
    '4000..5000 d 2|0',
    '5000..8000 b 1|1',
    '8000..9999 c 1|2',
  ])
})

t.test('changes outside the key space throw', async (t) => {
  t.throws(() => one().withChanges([entry('5000', '5000', 'a', 2, 0)]), /empty or exceeds/)
  t.throws(() => one().withChanges([entry('6000', '5000', 'a', 2, 0)]), /empty or exceeds/)
  t.throws(() => one().withChanges([entry('5000', '99999', 'a', 2, 0)]), /empty or exceeds/)
  t.throws(() => one().withChanges([entry('000', '5000', 'a', 2, 0)]), /empty or exceeds/)
})

/** Changes a plain array by brute force. */
class Oracle {
  chunks: ChunkEntry[]
  constructor(chunks: ChunkEntry[]) {
    this.chunks = chunks
  }

  place(change: ChunkEntry): void {
    const next: ChunkEntry[] = [change]
    for (const chunk of this.chunks) {
      if (chunk.min < change.min) next.push({ ...chunk, max: chunk.max < change.min ? chunk.max : change.min })
      if (chunk.max > change.max) next.push({ ...chunk, min: chunk.min > change.max ? chunk.min : change.max })
    }
    this.chunks = next.sort((a, b) => (a.min < b.min ? -1 : 1))
  }

  newest(shard?: string): [number, number] {
    const versions = this.chunks
      .filter((chunk) => shard === undefined || chunk.shard === shard)
      .map((chunk) => [chunk.major, chunk.minor] as [number, number])
    return versions.sort((a, b) => b[0] - a[0] || b[1] - a[1])[0] ?? [0, 0]
  }
}

const shards = ['s0', 's1', 's2', 's3']
const key = fc.integer({ min: 1, max: 9998 }).map((value) => String(value).padStart(4, '0'))
type Action =
  | { kind: 'split'; at: string[] }
  | { kind: 'merge'; from: number; count: number }
  | { kind: 'move'; chunk: number; to: number; control: boolean }
  | { kind: 'moveRange'; a: string; b: string; to: number }
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('split' as const), at: fc.array(key, { minLength: 1, maxLength: 40 }) }),
  },
  fc.record({ kind: fc.constant('merge' as const), from: fc.nat(), count: fc.integer({ min: 2, max: 60 }) }),
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('move' as const), chunk: fc.nat(), to: fc.nat(3), control: fc.boolean() }),
  },
  fc.record({ kind: fc.constant('moveRange' as const), a: key, b: key, to: fc.nat(3) }),
)

function changesOf(oracle: Oracle, action: Action): ChunkEntry[] {
  const [major, minor] = oracle.newest()
  const at = (index: number) => oracle.chunks[index % oracle.chunks.length]!
  switch (action.kind) {
    case 'split': {
      const points = [...new Set(action.at)].sort()
      let count = minor
      return oracle.chunks.flatMap((chunk) => {
        const inside = points.filter((point) => point > chunk.min && point < chunk.max)
        if (inside.length === 0) return []
        const edges = [chunk.min, ...inside, chunk.max]
        return edges.slice(1).map((end, i) => ({ ...chunk, min: edges[i]!, max: end, major, minor: ++count }))
      })
    }
    case 'merge': {
      const from = action.from % oracle.chunks.length
      const run = oracle.chunks.slice(from, from + action.count)
      return [{ ...run[0]!, max: run.at(-1)!.max, major, minor: minor + 1 }]
    }
    case 'move': {
      const chunk = at(action.chunk)
      const changes = [{ ...chunk, shard: shards[action.to]!, major: major + 1, minor: 0 }]
      const control = oracle.chunks.find((other) => other !== chunk && other.shard === chunk.shard)
      if (action.control && control !== undefined) changes.push({ ...control, major: major + 1, minor: 1 })
      return changes
    }
    case 'moveRange': {
      const [min, max] = [action.a, action.b].sort() as [string, string]
      return min === max ? [] : [{ min, max, shard: shards[action.to]!, major: major + 1, minor: 0 }]
    }
  }
}

function sameAsOracle(table: RoutingTable, oracle: Oracle): void {
  const expected = oracle.chunks.map(
    (chunk) => `${chunk.min}..${chunk.max} ${chunk.shard} ${chunk.major}|${chunk.minor}`,
  )
  const found = linesOf(table)
  if (found.join('\n') !== expected.join('\n'))
    throw new Error(`chunks differ:\n${found.join('\n')}\nexpected:\n${expected.join('\n')}`)
  equal(table.chunkCount, expected.length, 'chunkCount')
  equal(table.version.slice(3).join('|'), oracle.newest().join('|'), 'version')
  equal(table.lowestShard(), oracle.chunks[0]!.shard, 'lowestShard')
  for (const shard of shards) {
    equal(table.chunksOn(shard), oracle.chunks.filter((chunk) => chunk.shard === shard).length, `chunks on ${shard}`)
    equal(table.versionOn(shard).slice(3).join('|'), oracle.newest(shard).join('|'), `version of ${shard}`)
  }
  equal(table.owners().join(), [...new Set(oracle.chunks.map((chunk) => chunk.shard))].sort().join(), 'owners')
}

function equal(found: unknown, expected: unknown, what: string): void {
  if (found !== expected) throw new Error(`${what}: ${String(found)}, expected ${String(expected)}`)
}

t.test('random splits, merges and moves agree with a plain array, and older tables do not change', async () => {
  check(
    fc.property(
      fc.array(action, { maxLength: 40 }),
      fc.array(fc.tuple(key, key), { maxLength: 6 }),
      (actions, ranges) => {
        let table = one()
        const oracle = new Oracle([entry('0000', '9999', 'a', 1, 0)])
        const history: [RoutingTable, string][] = []
        for (const step of actions) {
          const changes = changesOf(oracle, step)
          for (const change of changes) oracle.place(change)
          history.push([table, linesOf(table).join()])
          // The catalog may answer in any order.
          table = table.withChanges(changes.toReversed())
          sameAsOracle(table, oracle)
        }
        for (const [older, lines] of history) equal(linesOf(older).join(), lines, 'an older table')
        const rebuilt = RoutingTable.build(generation, bounds, [...table.chunks()])
        equal(linesOf(rebuilt).join(), linesOf(table).join(), 'rebuilt')
        const sorted = ranges
          .map(([a, b]) => (a < b ? ([a, b] as const) : ([b, a] as const)))
          .sort((a, b) => (a[0] < b[0] ? -1 : 1))
        const touched = oracle.chunks.filter((chunk) =>
          sorted.some(([low, high]) => chunk.min <= high && low < chunk.max),
        )
        const found = table.shardsInRanges(sorted)
        equal(found.shards.join(), [...new Set(touched.map((chunk) => chunk.shard))].sort().join(), 'shardsInRanges')
        equal(found.chunks, touched.length, 'chunks of the ranges')
        for (const [low] of ranges) {
          const own = oracle.chunks.findLast((chunk) => chunk.min <= low)!
          equal(table.shardOf(low), own.shard, 'shardOf')
          equal(table.lowerBoundOf(low), own.min, 'lowerBoundOf')
        }
      },
    ),
    150,
  )
})

t.test('applying the chunks newer than an older table gives the newest table', async () => {
  check(
    fc.property(fc.array(action, { maxLength: 40 }), fc.nat(), (actions, choice) => {
      let table = one()
      const oracle = new Oracle([entry('0000', '9999', 'a', 1, 0)])
      const tables = [table]
      for (const step of actions) {
        const changes = changesOf(oracle, step)
        for (const change of changes) oracle.place(change)
        table = table.withChanges(changes)
        tables.push(table)
      }
      const known = tables[choice % tables.length]!
      const [, , , knownMajor, knownMinor] = known.version
      const newer = oracle.chunks.filter(
        ({ major, minor }) => major > knownMajor || (major === knownMajor && minor > knownMinor),
      )
      sameAsOracle(known.withChanges(newer), oracle)
      equal(table.countNewerThan(known.version), newer.length, 'newer chunks')
    }),
    150,
  )
})

t.test('a thousand changes in a row give the same table as a plain array', async () => {
  const name = (i: number) => String(i).padStart(4, '0')
  const chunks = Array.from({ length: 9999 }, (_, i) => entry(name(i), name(i + 1), shards[i % 4]!, 1, i))
  const expected = [...chunks]
  let table = RoutingTable.build(generation, bounds, chunks)
  for (let i = 0; i < 1000; i++) {
    const at = (i * 37) % 9999
    const moved = entry(name(at), name(at + 1), `s${4 + (i % 300)}`, 2 + i, 0)
    expected[at] = moved
    table = table.withChanges([moved])
  }
  sameAsOracle(table, new Oracle(expected))
})

t.test('a table of thousands of chunks merges them across blocks', async (t) => {
  const name = (i: number) => String(i).padStart(4, '0')
  const chunks = Array.from({ length: 9999 }, (_, i) => entry(name(i), name(i + 1), `s${i % 4}`, 1, i))
  const table = RoutingTable.build(generation, bounds, chunks)
  const oracle = new Oracle(chunks)
  sameAsOracle(table, oracle)
  const merge = entry('0100', '7311', 's2', 1, 10_000)
  oracle.place(merge)
  const merged = table.withChanges([merge])
  sameAsOracle(merged, oracle)
  t.same(merged.shardsInRanges([['0099', '7311']]), { shards: ['s2', 's3'], chunks: 3 })
  t.equal(table.shardsInRanges([['0000', '9999']]).chunks, 9999)
  t.equal(
    table.shardsInRanges([
      ['0000', '0599'],
      ['0599', '0700'],
      ['0300', '0800'],
    ]).chunks,
    801,
    'overlapping ranges count each chunk once',
  )
})

t.test('runs, chunks from a key and evenly spread bounds agree with the list of all chunks', async () => {
  const name = (i: number) => String(i).padStart(4, '0')
  await check(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 1500 }),
      fc.integer({ min: 1, max: 4 }),
      fc.nat(),
      async (count, width, at) => {
        const chunks = Array.from({ length: count }, (_, i) =>
          entry(name(i), i + 1 === count ? '9999' : name(i + 1), `s${Math.floor(i / width) % 3}`, 1, i),
        )
        const table = RoutingTable.build(generation, bounds, chunks)
        const begins = chunks.filter(({ shard }, i) => chunks[i - 1]?.shard !== shard)
        const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
        if (
          !same(
            [...table.runs()],
            begins.map(({ min, shard }) => [min, shard]),
          )
        )
          throw new Error('other runs')
        const from = at % count
        if (!same([...table.chunks(`${name(from)}x`)], chunks.slice(from)))
          throw new Error(`other chunks from ${from} on`)
        const places = Math.min(count, 1 + (at % 50))
        const expected = Array.from({ length: places }, (_, i) => chunks[Math.floor((i * count) / places)]!.min)
        if (!same(table.evenlySpread(places), expected)) throw new Error(`other ${places} places`)
      },
    ),
    60,
  )
})
