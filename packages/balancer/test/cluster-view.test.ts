/** What the balancer makes of the catalog's answers where members share placements. */
import { FakeContext } from '@shardlab/actor/testing'
import { encode, MaxKey, MinKey, ObjectId, Timestamp, UUID } from '@shardlab/bson'
import { behavioursOf, leaveAnswer, SharedPlacements, type PlacementVersion } from '@shardlab/sharding'
import t from 'tap'
import { ClusterView } from '../src/cluster-view.js'

const ns = 'db.c'
const count = 10_001
const collection = encode({
  _id: ns,
  lastmodEpoch: new ObjectId('0123456789abcdef01234567'),
  timestamp: new Timestamp({ t: 5, i: 1 }),
  uuid: new UUID('01234567-89ab-4def-8123-456789abcdef'),
  key: { a: 1 },
})
const chunk = (i: number, shard: string, major: number) => {
  const [min, max] = [i === 0 ? new MinKey() : i, i === count - 1 ? new MaxKey() : i + 1]
  return encode({ min: { a: min }, max: { a: max }, shard, lastmod: new Timestamp({ t: major, i }) })
}
const chunks = Array.from({ length: count }, (_, i) => chunk(i, 'A', 1))

t.test('chunks that did not travel and were given back meanwhile are asked for again', async (t) => {
  for (const isGivenBack of [false, true]) {
    const shared = new Map<string, unknown>()
    const asked: (PlacementVersion | null)[] = []
    const balancer: FakeContext = new FakeContext('balancer', {
      peers: (_, kind, request) => {
        if (kind === 'config.get-zones') return { zones: [] } as never
        const { since } = request as unknown as { readonly since: PlacementVersion | null }
        asked.push(since)
        const answer = { collection, chunks, full: true }
        const reply = { ...answer, chunks: leaveAnswer(balancer, ns, since, answer) }
        // The clock of a router is two hours ahead of that of the config server.
        const router = new SharedPlacements({ shared, now: () => balancer.now() + 7_200_000 })
        if (isGivenBack && asked.length === 1) {
          const known = router.after(ns, null, reply)
          router.after(ns, known, { collection, chunks: [chunk(1, 'B', 2)], full: false })
        }
        return reply as never
      },
    })
    Object.assign(balancer, { shared })
    const seen = await new ClusterView(balancer, behavioursOf('4.4')).collection(ns)
    t.equal(seen!.chunks.count, count)
    t.same(seen!.chunks.version.slice(3), [1, count - 1])
    t.equal(asked.length, isGivenBack ? 2 : 1)
  }
})
