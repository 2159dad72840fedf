/** Points 9 to 12 of section-15.test.ts: what the balancer moves, and in which order. */
import t from 'tap'
import {
  Distribution,
  chunkCountLoad,
  dataSizeLoad,
  selectMigrations,
  type ChunkPlace,
  type ShardStatistics,
} from '@shardlab/balancer'
import { BalancedCluster } from '../../simulation/balanced-cluster.js'

const shardStatistics = (id: string): ShardStatistics => ({ id, isDraining: false, zones: [], isFull: false })
const place = (i: number, shard: string, isJumbo = false): ChunkPlace => ({
  min: String(i).padStart(3, '0'),
  max: String(i + 1).padStart(3, '0'),
  shard,
  isJumbo,
})
const three = ['a', 'b', 'c'].map(shardStatistics)

t.test('9. one chunk above the ideal is enough for a migration, not 2, 4 or 8', (t) => {
  const moves = (counts: readonly number[]) => {
    const chunks = counts
      .flatMap((count, i) => Array.from({ length: count }, () => 'abc'[i]!))
      .map((shard, i) => place(i, shard))
    const distribution = new Distribution(chunks, [])
    return selectMigrations({
      shards: three,
      distribution,
      load: chunkCountLoad(three, distribution),
      available: new Set(['a', 'b', 'c']),
      attemptJumbo: false,
    }).migrations.map(({ from, to }) => `${from}>${to}`)
  }
  t.same(moves([2, 2, 2]), [])
  t.same(moves([3, 2, 1]), ['a>c'])
  t.same(moves([4, 1, 1]).slice(0, 1), ['a>b'])
  t.end()
})

t.test('10. a difference of three chunk sizes is enough for a migration', (t) => {
  const megabyte = 1024 * 1024
  const moves = (sizes: readonly number[]) => {
    const distribution = new Distribution([place(0, 'a'), place(1, 'a'), place(2, 'b'), place(3, 'c')], [])
    const bytes = new Map(['a', 'b', 'c'].map((id, i) => [id, sizes[i]! * megabyte]))
    const load = dataSizeLoad(three, { bytes, maxChunkSizeBytes: 128 * megabyte })
    return selectMigrations({
      shards: three,
      distribution,
      load,
      available: new Set(['a', 'b', 'c']),
      attemptJumbo: false,
    }).migrations.length
  }
  t.equal(moves([383, 0, 0]), 0)
  t.equal(moves([384, 0, 0]), 1)
  t.end()
})

t.test('11. a round checks collections in random order', async (t) => {
  const firsts = new Set<string>()
  for (let seed = 1; seed <= 20 && firsts.size < 2; seed++) {
    const world = await BalancedCluster.start({ emulate: '6.0.2', shards: 2, seed })
    for (const name of ['a', 'b']) await world.split(await world.shard(name), [1, 2, 3])
    const { migrations } = await world.cluster.balancer.runRound()
    t.equal(migrations.length, 1, 'each shard joins one migration in a round')
    firsts.add(migrations[0]!.ns)
    await world.stop()
  }
  t.same([...firsts].sort(), ['app.a', 'app.b'])
})

t.test('11. draining shards come before zone violations, and these before imbalances', (t) => {
  const shards = ['a', 'b', 'c', 'd', 'e', 'f'].map(shardStatistics)
  const all = shards.map((shard) => ({ ...shard, isDraining: shard.id === 'a', zones: shard.id === 'b' ? ['z'] : [] }))
  const owners = ['a', 'b', 'c', 'd', 'd', 'd', 'd', 'd', 'd']
  const distribution = new Distribution(
    owners.map((owner, i) => place(i, owner)),
    [{ ...place(2, 'c'), zone: 'z' }],
  )
  const load = chunkCountLoad(all, distribution)
  const { migrations } = selectMigrations({
    shards: all,
    distribution,
    load,
    available: new Set(shards.map(({ id }) => id)),
    attemptJumbo: false,
  })
  t.same(
    migrations.map(({ from, to, reason }) => [from, to, reason]),
    [
      ['a', 'e', 'draining'],
      ['c', 'b', 'zoneViolation'],
      ['d', 'f', 'chunksImbalance'],
    ],
    'each shard takes part in one',
  )
  t.end()
})

t.test('12. no rule moves chunks with the jumbo flag, not even draining', (t) => {
  const shards = three.map((shard) => (shard.id === 'a' ? { ...shard, isDraining: true } : shard))
  const select = (isJumbo: boolean) => {
    const distribution = new Distribution([place(0, 'a', isJumbo), place(1, 'b'), place(2, 'c')], [])
    const load = chunkCountLoad(shards, distribution)
    return selectMigrations({ shards, distribution, load, available: new Set(['a', 'b', 'c']), attemptJumbo: true })
      .migrations.length
  }
  t.equal(select(false), 1)
  t.equal(select(true), 0)
  t.end()
})
