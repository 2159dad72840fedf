import type { SizedRange } from '@shardlab/actor'
import { createRandom } from '@shardlab/actor'
import t from 'tap'
import { KeySpace } from '../src/measured/key-space.js'
import { rekeyed, type Rekeying } from '../src/measured/rekeyed.js'

const none = Number.NEGATIVE_INFINITY
const everyValue = [{ from: 0, to: 1000, weight: 1 }]

function rekeying(newFields: Rekeying['newFields'], oldHashed = false): Rekeying {
  return {
    oldFields: [
      { name: 'a', hashed: oldHashed },
      { name: 'b', hashed: false },
    ],
    oldSpace: new KeySpace([oldHashed, false]),
    newFields,
    newSpace: new KeySpace(newFields.map(({ hashed }) => hashed)),
  }
}

const range = (part: Partial<SizedRange>): SizedRange => ({
  ...{ x0: 0, y0: none, z0: none, x1: 0, y1: none, z1: none, documents: 1000, bytes: 100_000 },
  ...part,
})

t.test('a field of both keys keeps its values', (t) => {
  const to = rekeying([
    { name: 'b', hashed: false, weights: everyValue },
    { name: 'a', hashed: false, weights: everyValue },
  ])
  const found = rekeyed([range({ x0: 7, x1: 7, y0: 100, y1: 200 })], to, 0.5)
  t.same(found, [range({ x0: 100, x1: 200, y0: none, y1: none })])
  t.end()
})

t.test('documents with one value in the new key have it in common, and the rest is spread', (t) => {
  const to = rekeying([
    { name: 'a', hashed: false, weights: everyValue },
    { name: 'c', hashed: false, weights: [{ from: 0, to: 10, weight: 1 }] },
  ])
  t.same(rekeyed([range({ x0: 7, x1: 7, y0: 100, y1: 200 }), range({ x0: 7, x1: 7, y0: 200, y1: 300 })], to, 0), [
    range({ x0: 7, x1: 7, y0: 0, y1: 10, documents: 2000, bytes: 200_000 }),
  ])
  t.end()
})

t.test('values under a hashed field are known again if they were placed', (t) => {
  const to = rekeying([{ name: 'a', hashed: false, weights: everyValue }], true)
  const [place] = to.oldSpace.places([{ weights: [{ from: 5, to: 6, weight: 1 }], isGrowing: false }])
  const { x0 } = place!
  t.same(rekeyed([range({ x0, x1: x0 })], to, 0), [range({ x0: 5, x1: 5 })])
  t.same(
    rekeyed([range({ x0: x0 + 4096, x1: x0 + 8192 })], to, 0),
    [range({ x0: 0, x1: 1000 })],
    'others may have any value',
  )
  t.end()
})

t.test('no document and no byte is added or lost', (t) => {
  const seed = Number(process.env['SHARDLAB_SEED'] ?? 11)
  t.comment(`seed ${seed}`)
  const random = createRandom(seed)
  for (let i = 0; i < 200; i++) {
    const hot = random.fraction()
    const weights = [
      { from: 0, to: 1, weight: hot },
      { from: 1, to: 50, weight: (1 - hot) / 2 },
      { from: 50, to: 900, weight: (1 - hot) / 2 },
    ]
    const names = random.shuffled(['a', 'b', 'c']).slice(0, 1 + random.below(3))
    const to = rekeying(names.map((name) => ({ name, hashed: false, weights })))
    const ranges = Array.from({ length: 1 + random.below(20) }, () => {
      const x = random.below(900)
      const documents = 1 + random.below(100)
      const size = { documents, bytes: documents * 100 + random.below(50) }
      return random.below(2) === 0
        ? range({ x0: x, x1: x + 1 + random.below(99), ...size })
        : range({ x0: x, x1: x, y0: x, y1: x + 30, ...size })
    })
    const found = rekeyed(ranges, to, random.fraction())
    const sum = (all: readonly SizedRange[], of: 'documents' | 'bytes') =>
      all.reduce((total, each) => total + each[of], 0)
    t.equal(sum(found, 'documents'), sum(ranges, 'documents'))
    t.equal(sum(found, 'bytes'), sum(ranges, 'bytes'))
    t.ok(found.every(({ documents, bytes }) => documents > 0 && bytes >= 0))
  }
  t.end()
})
