import { createRandom, packRanges, unpackRanges, type Random, type SizedRange } from '@shardlab/actor'
import { decode, encode, MaxKey, MinKey, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { MeasuredDisks, MeasuredKeys, positionOf, RangeSizes, type Position } from '@shardlab/shard'
import { Shards } from './support/shards.js'

const keys = 200
const seeds = process.env['SHARDLAB_SEED'] === undefined ? [1, 2, 3, 4, 5, 6] : [Number(process.env['SHARDLAB_SEED'])]
const none = Number.NEGATIVE_INFINITY

const at = (x: number) => ({ x, y: none, z: none })
const spread = (x0: number, x1: number, documents: number, bytes = documents * 100): SizedRange => ({
  ...{ x0, y0: none, z0: none, x1, y1: none, z1: none, documents, bytes },
})
const oneKey = (x: number, documents: number): SizedRange => ({
  x0: x,
  y0: none,
  z0: none,
  x1: x,
  y1: none,
  z1: none,
  documents,
  bytes: documents * 100,
})

/** Documents by key, as fractions. */
class Model {
  readonly documents = new Array<number>(keys).fill(0)

  grow({ x0, x1, documents }: SizedRange): void {
    for (let x = x0; x < Math.max(x1, x0 + 1); x++) this.documents[x]! += documents / Math.max(1, x1 - x0)
  }

  take(from: number, to: number): void {
    this.documents.fill(0, from, to)
  }

  in(from: number, to: number): number {
    return this.documents.slice(from, to).reduce((sum, each) => sum + each, 0)
  }
}

function inOrder(a: Position, b: Position): number {
  return a.x - b.x || a.y - b.y || a.z - b.z
}

function interval(random: Random): readonly [number, number] {
  const [a, b] = [random.below(keys), random.below(keys)]
  return a < b ? [a, b] : [b, a + 1]
}

for (const seed of seeds) {
  t.test(`sizes of ranges, against a model, seed ${seed}`, async (t) => {
    const random = createRandom(seed).fork('sizes')
    const sizes = new RangeSizes()
    const model = new Model()
    let [documents, bytes] = [0, 0]
    for (let step = 0; step < 400; step++) {
      const [from, to] = interval(random)
      if (random.chance(1, 4)) {
        const taken = sizes.take({ min: at(from), max: at(to) })
        for (const each of taken) {
          documents -= each.documents
          bytes -= each.bytes
        }
        if (random.chance(1, 3)) model.take(from, to)
        else {
          sizes.put(unpackRanges(packRanges(taken)))
          for (const each of taken) {
            documents += each.documents
            bytes += each.bytes
          }
        }
      } else {
        const count = random.below(5000)
        const grown = random.chance(1, 5) ? oneKey(from, count) : spread(from, to, count)
        sizes.grow(grown)
        model.grow(grown)
        documents += count
        bytes += grown.bytes
      }
      t.equal(sizes.documents, documents, `step ${step}: no document is lost`)
      t.equal(sizes.bytes, bytes, `step ${step}: no byte is lost`)
      const [low, high] = interval(random)
      const middle = low + random.below(high - low + 1)
      const whole = sizes.sizeOf({ min: at(low), max: at(high) })
      const parts = [sizes.sizeOf({ min: at(low), max: at(middle) }), sizes.sizeOf({ min: at(middle), max: at(high) })]
      t.equal(parts[0]!.documents + parts[1]!.documents, whole.documents, `step ${step}: parts are the whole`)
      t.equal(parts[0]!.bytes + parts[1]!.bytes, whole.bytes)
      const expected = model.in(low, high)
      if (Math.abs(whole.documents - expected) > 20 + expected * 0.02)
        t.fail(`step ${step}: [${low}, ${high}) has ${whole.documents} documents where ${expected} are expected`)
    }
    let before: SizedRange | null = null
    for (const range of sizes.ranges()) {
      t.ok(range.documents > 0 && Number.isInteger(range.documents) && Number.isInteger(range.bytes))
      if (before !== null)
        t.ok(before.x1 < range.x0 || (before.x1 === range.x0 && before.y1 <= range.y0), 'they are in order')
      before = range
    }
  })
}

t.test('the ranges within an interval are those that take() removes', async (t) => {
  for (const seed of seeds) {
    const random = createRandom(seed).fork('within')
    const position = () => ({ x: random.below(12), y: random.below(4), z: random.below(3) })
    for (let round = 0; round < 200; round++) {
      const sizes = new RangeSizes()
      for (let i = 0; i < 12; i++) {
        const [from, to] = [position(), position()].sort(inOrder)
        const documents = 1 + random.below(40)
        sizes.grow({
          x0: from!.x,
          y0: from!.y,
          z0: from!.z,
          x1: to!.x,
          y1: to!.y,
          z1: to!.z,
          documents,
          bytes: documents * 100,
        })
      }
      const [min, max] = [position(), position()].sort(inOrder) as [Position, Position]
      const { documents } = sizes.sizeOf({ min, max })
      const within = sizes.within({ min, max })
      if (within.reduce((sum, each) => sum + each.documents, 0) !== documents)
        t.equal(within, documents, `seed ${seed}, round ${round}`)
      const taken = sizes.take({ min, max })
      if (JSON.stringify(within) !== JSON.stringify(taken)) return t.same(within, taken, `seed ${seed}, round ${round}`)
    }
  }
  t.pass()
})

t.test('growth at the end of a range extends it', async (t) => {
  const sizes = new RangeSizes()
  for (let i = 0; i < 1000; i++) sizes.grow(spread(i * 7, i * 7 + 7, 7))
  t.same([...sizes.ranges()], [spread(0, 7000, 7000)])
})

t.test('the second field divides documents with one value in the first', async (t) => {
  const sizes = new RangeSizes()
  sizes.grow({ x0: 5, y0: 0, z0: none, x1: 5, y1: 1000, z1: none, documents: 1000, bytes: 100_000 })
  sizes.grow(spread(0, 10, 100))
  t.same(sizes.sizeOf({ min: at(0), max: at(5) }), { documents: 50, bytes: 5000 })
  t.same(sizes.sizeOf({ min: at(5), max: { x: 5, y: 250, z: none } }).documents, 250)
  t.same(sizes.sizeOf({ min: { x: 5, y: 250, z: none }, max: at(10) }).documents, 800)
  const single = new RangeSizes()
  single.grow(oneKey(5, 1000))
  t.same(single.sizeOf({ min: at(0), max: at(5) }).documents, 0)
  t.same(single.sizeOf({ min: at(5), max: at(6) }).documents, 1000, 'one key is not divided')
})

t.test('deletions take the same share of each part of a range, and never more than there is', async (t) => {
  const sizes = new RangeSizes()
  sizes.grow(spread(0, 100, 1000))
  sizes.grow(oneKey(50, 600))
  const deleted = (range: SizedRange) => {
    let documents = 0
    for (const each of sizes.shrink(range)) documents += each.documents
    return documents
  }
  t.equal(deleted(spread(40, 60, 400)), 400, 'half of 800 documents')
  t.equal(sizes.sizeOf({ min: at(50), max: at(51) }).documents, 305)
  t.equal(sizes.sizeOf({ min: at(0), max: at(40) }).documents, 400, 'other ranges keep theirs')
  t.same([sizes.documents, sizes.bytes], [1200, 120_000])
  t.equal(deleted(oneKey(50, 1000)), 305)
  t.equal(deleted(spread(0, 100, 5000)), 895)
  t.same([sizes.documents, sizes.bytes, [...sizes.ranges()]], [0, 0, []])
  sizes.grow({ x0: 5, y0: 0, z0: none, x1: 5, y1: 10, z1: none, documents: 10, bytes: 1000 })
  t.equal(deleted(oneKey(5, 4)), 4, 'a value includes its documents in later fields')
})

t.test('the third field divides documents with one value in the first two', async (t) => {
  const sizes = new RangeSizes()
  sizes.grow({ x0: 5, y0: 2, z0: 0, x1: 5, y1: 2, z1: 1000, documents: 1000, bytes: 100_000 })
  sizes.grow({ x0: 5, y0: 0, z0: none, x1: 5, y1: 4, z1: none, documents: 40, bytes: 4000 })
  const below = (x: number, y: number, z: number): number => sizes.sizeOf({ min: at(0), max: { x, y, z } }).documents
  t.equal(below(5, 2, none), 20)
  t.equal(below(5, 2, 250), 270)
  t.equal(below(5, 3, none), 1030)
  const keysOf = (fields: number) => new MeasuredKeys([...sizes.ranges()], fields)
  t.same(keysOf(3).at(270), { x: 5, y: 2, z: 250 })
  t.equal(keysOf(3).nextKey(270), 271)
  t.equal(keysOf(2).nextKey(270), 1030, 'a key of two fields has one value there')
  t.ok(keysOf(1).hasOneKey)
})

t.test('bounds have positions in key order', async (t) => {
  for (const [bound, x, y, z = none] of [
    [{ a: new MinKey() }, none, none],
    [{ a: new MaxKey() }, Number.POSITIVE_INFINITY, none],
    [{ a: -7.5, b: 2 ** 40 }, -7.5, 2 ** 40],
    [{ a: 0, b: new MinKey() }, 0, none],
    [{ a: 3n ** 39n, b: 'text' }, Number(3n ** 39n), Number.POSITIVE_INFINITY],
    [{ a: -(2n ** 63n), b: null }, -(2 ** 63), none],
    [{ a: 1, b: 2, c: 3 }, 1, 2, 3],
    [{ a: 1, b: new MinKey(), c: 3 }, 1, none, 3],
  ] as const)
    t.same(
      positionOf(encode(bound as Document)),
      { x, y, z },
      JSON.stringify(bound, (_, value: unknown) => String(value)),
    )
})

const documentBytes = 1024
const chunkBytes = 100 * documentBytes

interface Found {
  readonly points: readonly unknown[]
  readonly size: unknown
}

/** Answers of a shard with these documents, or with measured ranges of the same sizes. */
async function found(
  values: readonly number[] | RangeSizes,
  key: Document,
  version: EmulatedVersion,
  pointsMax: number | null,
): Promise<Found> {
  const disks = new MeasuredDisks()
  const measured = values instanceof RangeSizes ? { namespaces: ['db.c'], cloneBytesPerSecond: 1e9, disks } : null
  const shards = new Shards({ version, measured })
  await shards.direct('shard01', { createIndexes: 'c', indexes: [{ key, name: 'i' }] })
  const ask = async () =>
    shards.send('shard01', 'shard.find-split-points', {
      ns: 'db.c',
      keyPattern: encode(key),
      min: encode({ a: new MinKey() }),
      max: encode({ a: new MaxKey() }),
      maxChunkSizeBytes: chunkBytes,
      pointsMax,
    })
  if (values instanceof RangeSizes) {
    await ask()
    disks
      .of('shard01')
      .values()
      .next()
      .value!.put([...values.ranges()])
  } else {
    const filler = 'x'.repeat(documentBytes - encode({ _id: 1, a: 1, filler: '' }).length)
    for (let i = 0; i < values.length; i += 1000) {
      const documents = values.slice(i, i + 1000).map((a, n) => ({ _id: i + n, a, filler }))
      await shards.direct('shard01', { insert: 'c', documents })
    }
  }
  const { points } = await ask()
  const size = await shards.send('shard01', 'shard.measure-range', {
    ...{
      ns: 'db.c',
      keyPattern: encode(key),
      min: encode({ a: 20 }),
      max: encode({ a: 150 }),
      estimate: false,
      sizeMaxBytes: null,
    },
  })
  const { sizes } = await shards.send('shard01', 'shard.collection-sizes', { namespaces: ['db.c'] })
  return { points: points.map((point) => decode(point)['a']), size: [size.sizeBytes, sizes] }
}

for (const seed of seeds.slice(0, 3)) {
  t.test(`a measured collection is split where documents would be, seed ${seed}`, async (t) => {
    const random = createRandom(seed).fork('splits')
    const sizes = new RangeSizes()
    for (let i = 0; i < 6; i++) {
      const [from, to] = interval(random)
      const count = 1 + random.below(400)
      sizes.grow(
        random.chance(1, 3)
          ? { ...oneKey(from, count), bytes: count * documentBytes }
          : spread(from, to, count, count * documentBytes),
      )
    }
    const all = new MeasuredKeys([...sizes.ranges()], 1)
    const values = Array.from({ length: all.count }, (_, n) => all.at(n).x)
    t.same(
      values,
      values.toSorted((a, b) => a - b),
    )
    for (const version of ['7.0', '4.0'] as const)
      for (const pointsMax of [null, 1, 3])
        t.same(
          await found(sizes, { a: 1 }, version, pointsMax),
          await found(values, { a: 1 }, version, pointsMax),
          `${version}, at most ${pointsMax} points`,
        )
  })
}

t.test('commands about documents are refused', async (t) => {
  const shards = new Shards({
    measured: { namespaces: ['db.c'], cloneBytesPerSecond: 1e9, disks: new MeasuredDisks() },
  })
  for (const command of [
    { find: 'c' },
    { count: 'c' },
    { insert: 'c', documents: [{ a: 1 }] },
    { aggregate: 'c', pipeline: [], cursor: {} },
  ]) {
    const reply = await shards.direct('shard01', command)
    t.match(
      reply,
      { ok: 0, code: 115, errmsg: /^db\.c is measured: it has sizes of ranges instead of documents/ },
      Object.keys(command)[0]!,
    )
  }
  t.match(await shards.direct('shard01', { find: 'd' }), { ok: 1 })
})
