import { FakeContext } from '@shardlab/actor/testing'
import { encode, MaxKey, MinKey, ObjectId, Timestamp, UUID } from '@shardlab/bson'
import { behavioursOf, sameGeneration, type PlacementVersion } from '@shardlab/sharding'
import t from 'tap'
import { ClusterView } from '../src/cluster-view.js'

const ns = 'db.c'
const count = 25_000

const entryOf = (epoch: string) =>
  encode({
    _id: ns,
    lastmodEpoch: new ObjectId(epoch),
    timestamp: new Timestamp({ t: 5, i: 1 }),
    uuid: new UUID('01234567-89ab-4def-8123-456789abcdef'),
    key: { a: 1 },
  })

interface Chunk {
  readonly i: number
  readonly shard: string
  readonly version: readonly [major: number, minor: number]
}

const documentOf = ({ i, shard, version: [t, minor] }: Chunk) => {
  const [min, max] = [i === 0 ? new MinKey() : i, i === count - 1 ? new MaxKey() : i + 1]
  return encode({ min: { a: min }, max: { a: max }, shard, lastmod: new Timestamp({ t, i: minor }) })
}

class Catalog {
  epoch = '0123456789abcdef01234567'
  chunks: Chunk[] = Array.from({ length: count }, (_, i) => ({ i, shard: 'A', version: [1, i] }))
  readonly asked: (readonly [major: number, minor: number] | null)[] = []
  /** Called after each reply, with the number of replies so far. */
  answered: (answers: number) => void = () => {}

  readonly context: FakeContext = new FakeContext('balancer', {
    peers: (_, kind, request) => {
      if (kind === 'config.get-zones') return { zones: [] } as never
      const { since, limit } = request as unknown as { since: PlacementVersion | null; limit: number }
      this.asked.push(since === null ? null : [since[3], since[4]])
      const known = since !== null && sameGeneration(since, [this.epoch, 5, 1, 0, 0]) ? since : null
      const newer = this.chunks
        .filter(({ version: [t, i] }) => known === null || t > known[3] || (t === known[3] && i > known[4]))
        .sort((a, b) => a.version[0] - b.version[0] || a.version[1] - b.version[1])
      const reply = {
        collection: entryOf(this.epoch),
        chunks: newer.slice(0, limit).map(documentOf),
        full: known === null,
      }
      this.answered(this.asked.length)
      return reply as never
    },
  })

  move(i: number, shard: string, major: number): void {
    this.chunks[i] = { i, shard, version: [major, 0] }
  }
}

t.test('a chunk that moves between two answers is read again', async (t) => {
  const catalog = new Catalog()
  catalog.answered = (answers) => {
    if (answers === 1) catalog.move(3, 'B', 2)
    if (answers === 2) catalog.move(24_000, 'C', 3)
  }
  const view = new ClusterView(catalog.context, behavioursOf('4.4'))
  const { chunks } = (await view.collection(ns))!
  t.same(catalog.asked, [null, [1, 9_999], [1, 19_999]])
  t.equal(chunks.count, count)
  t.same(chunks.version.slice(3), [3, 0])
  t.same(
    [...chunks.byShard].map(([shard, own]) => [shard, own.length]),
    [
      ['A', count - 2],
      ['B', 1],
      ['C', 1],
    ],
  )
  t.equal((await view.collection(ns))!.chunks, chunks, 'nothing is new')
  catalog.move(5, 'B', 4)
  const next = (await view.collection(ns))!.chunks
  t.same(catalog.asked.slice(3), [
    [3, 0],
    [3, 0],
  ])
  t.equal(next.byShard.get('B')!.length, 2)
})

t.test('a collection that is recreated between two answers is read from its beginning', async (t) => {
  const catalog = new Catalog()
  catalog.answered = (answers) => {
    if (answers !== 2) return
    catalog.epoch = 'aaaaaaaaaaaaaaaaaaaaaaaa'
    catalog.chunks = catalog.chunks.map((chunk) => ({ ...chunk, shard: 'B' }))
  }
  const { chunks } = (await new ClusterView(catalog.context, behavioursOf('4.4')).collection(ns))!
  t.same(catalog.asked, [null, [1, 9_999], [1, 19_999], [1, 9_999], [1, 19_999]])
  t.equal(chunks.version[0], catalog.epoch)
  t.same([...chunks.byShard.keys()], ['B'])
  t.equal(chunks.count, count)
})
