import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { latestChunks, withNeighbours, type ReadChunk } from '../src/live/live-chunks.js'

const last = 9

interface Chunk {
  readonly from: number
  readonly to: number
  readonly shard: string
  readonly version: number
}

const keyOf = (place: number): string => String(place).padStart(2, '0')

const readOf = ({ from, to, shard }: Chunk): ReadChunk => ({
  chunk: { key: keyOf(from), min: '', shard },
  toKey: keyOf(to),
})

/** A catalog in which splits, merges and moves give new versions. */
class Catalog {
  chunks: Chunk[] = [{ from: 0, to: last, shard: 'shard01', version: 1 }]
  #version = 1

  split(at: number): void {
    const chunk = this.chunks.find(({ from, to }) => from < at && at < to)
    if (chunk === undefined) return
    const parts = [
      { ...chunk, to: at },
      { ...chunk, from: at },
    ]
    this.#replace([chunk], parts)
  }

  /** Two neighbours, also of two shards. */
  merge(at: number): void {
    const [left, right] = [this.chunks.find(({ to }) => to === at), this.chunks.find(({ from }) => from === at)]
    if (left !== undefined && right !== undefined) this.#replace([left, right], [{ ...left, to: right.to }])
  }

  move(at: number, shard: string): void {
    const chunk = this.chunks.find(({ from, to }) => from <= at && at < to)
    if (chunk !== undefined) this.#replace([chunk], [{ ...chunk, shard }])
  }

  /** Those after the version, oldest first. */
  page(since: number, limit: number): Chunk[] {
    return this.chunks
      .filter(({ version }) => version > since)
      .toSorted((a, b) => a.version - b.version)
      .slice(0, limit)
  }

  #replace(old: readonly Chunk[], added: readonly Chunk[]): void {
    this.chunks = this.chunks.filter((each) => !old.includes(each))
    for (const each of added) this.chunks.push({ ...each, version: ++this.#version })
  }
}

const change: fc.Arbitrary<(catalog: Catalog) => void> = fc.oneof(
  fc.integer({ min: 1, max: last - 1 }).map((at) => (catalog: Catalog) => catalog.split(at)),
  fc.integer({ min: 1, max: last - 1 }).map((at) => (catalog: Catalog) => catalog.merge(at)),
  fc.tuple(fc.nat(last - 1), fc.constantFrom('shard01', 'shard02')).map(
    ([at, shard]) =>
      (catalog: Catalog) =>
        catalog.move(at, shard),
  ),
)

t.test('chunks that are read in pages are those of the end, whatever has changed between the pages', async (t) => {
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 30 }),
      fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 10 }),
      fc.integer({ min: 1, max: 4 }),
      (before, between, limit) => {
        const catalog = new Catalog()
        for (const each of before) each(catalog)
        const pages: Chunk[] = []
        for (let i = 0; ; i++) {
          const page = catalog.page(pages.at(-1)?.version ?? 0, limit)
          pages.push(...page)
          if (page.length < limit) break
          for (const each of between[i] ?? []) each(catalog)
        }
        assert.deepEqual(
          latestChunks(pages.map(readOf)),
          catalog.chunks.toSorted((a, b) => a.from - b.from).map(readOf),
        )
      },
    ),
    { numRuns: 1000 },
  )
  t.pass('all sequences')
})

t.test('the parts of a split are one change', async (t) => {
  const read = (from: number, to: number): ReadChunk => readOf({ from, to, shard: 'shard01', version: 1 })
  const placesOf = (chunks: readonly ReadChunk[]) =>
    withNeighbours(chunks).map((parts) => parts.map(({ chunk: { key }, toKey }) => `${key}-${toKey}`))
  t.same(placesOf([read(7, 8), read(2, 4), read(4, 5), read(0, 1)]), [['07-08'], ['02-04', '04-05'], ['00-01']])
})
