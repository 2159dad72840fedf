/**
 * Cases of the server's policy tests under their names, from
 * src/mongo/db/s/balancer/balancer_policy_test.cpp: for the chunk count (4.4 to 6.0.2) and for the
 * data size (7.0).
 */
import t from 'tap'
import { Distribution, type ZoneRange } from '../src/index.js'
import { byCount, bySize, keyOf, picture, zone, type Shard } from './support/picture.js'

interface Case {
  readonly shards: readonly Shard[]
  readonly ranges?: readonly ZoneRange[]
  readonly used?: readonly string[]
  /** `from>to chunk reason`: shards are a, b, …, chunks 0, 1, … */
  readonly expected: readonly string[]
}

type Kinds = readonly ('jumbo' | 'chunk')[]

const maxKey = 99_999
const megachunk = 100

/** @param size in units of a chunk */
const shard = (chunks: number | Kinds, size = 0, zones: readonly string[] = []): Shard => ({
  chunks,
  bytes: size * megachunk,
  zones,
})
const draining = (chunks: number, size = 0, zones: readonly string[] = []): Shard => ({
  ...shard(chunks, size, zones),
  draining: true,
})
const full = (chunks: number): Shard => ({ ...shard(chunks), full: true })
const counts = (...chunks: number[]): Shard[] => chunks.map((n) => shard(n, n))
const onlyFree = (at: number, length: number): Kinds => Array.from({ length }, (_, i) => (i === at ? 'chunk' : 'jumbo'))
const everything = (name: string) => [zone(0, maxKey, name)]
const one = 'chunksImbalance'

const fourZones = [zone(0, 1, 'Zone1'), zone(1, 2, 'Zone2'), zone(2, 3, 'Zone1'), zone(3, 4, 'Zone2')]
const both = ['Zone1', 'Zone2']
const threeZones = [zone(0, 1, 'a'), zone(1, 3, 'b'), zone(3, 5, 'c')]

const common: Readonly<Record<string, Case>> = {
  Basic: { shards: counts(4, 0, 3), expected: [`a>b 0 ${one}`] },
  BalanceThresholdObeyed: { shards: counts(2, 2, 1, 1), expected: [] },
  ParallelBalancing: { shards: counts(4, 4, 0, 0), expected: [`a>c 0 ${one}`, `b>d 4 ${one}`] },
  ParallelBalancingDoesNotMoveChunksFromShardsBelowOptimal: {
    shards: counts(100, 30, 5, 0),
    expected: [`a>d 0 ${one}`],
  },
  ParallelBalancingNotSchedulingOnInUseSourceShardsWithMoveNecessary: {
    shards: counts(8, 4, 0, 0),
    used: ['a'],
    expected: [`b>c 8 ${one}`],
  },
  ParallelBalancingNotSchedulingOnInUseSourceShardsWithMoveNotNecessary: {
    shards: counts(12, 4, 0, 0),
    used: ['a'],
    expected: [],
  },
  ParallelBalancingNotSchedulingOnInUseDestinationShards: {
    shards: counts(4, 4, 0, 1),
    used: ['c'],
    expected: [`a>d 0 ${one}`],
  },
  JumboChunksNotMoved: { shards: [shard(onlyFree(1, 4), 4), shard(0)], expected: [`a>b 1 ${one}`] },
  JumboChunksNotMovedParallel: {
    shards: [shard(onlyFree(1, 4), 4), shard(0), shard(onlyFree(2, 4), 4), shard(0)],
    expected: [`a>b 1 ${one}`, `c>d 6 ${one}`],
  },
  DrainingSingleChunk: { shards: [draining(1, 2), shard(5)], expected: ['a>b 0 draining'] },
  DrainingSingleChunkPerShard: {
    shards: [draining(1, 2), shard(5), draining(1, 2), shard(5)],
    expected: ['a>b 0 draining', 'c>d 6 draining'],
  },
  DrainingWithTwoChunksFirstOneSelected: { shards: [draining(2, 2), shard(5)], expected: ['a>b 0 draining'] },
  DrainingMultipleShardsFirstOneSelected: {
    shards: [draining(1, 5), draining(2, 5), shard(16, 5)],
    expected: ['a>c 0 draining'],
  },
  DrainingMultipleShardsWontAcceptChunks: { shards: [shard(4, 2), draining(0), draining(0)], expected: [] },
  DrainingSingleAppropriateShardFoundDueToTag: {
    shards: [shard(4, 2, ['NYC']), shard(4, 2, ['LAX']), draining(1, 1, ['LAX'])],
    ranges: [zone(8, maxKey, 'LAX')],
    expected: ['c>b 8 draining'],
  },
  DrainingNoAppropriateShardsFoundDueToTag: {
    shards: [shard(4, 2, ['NYC']), shard(4, 2, ['LAX']), draining(1, 1, ['SEA'])],
    ranges: [zone(8, maxKey, 'SEA')],
    expected: [],
  },
  BalancerRespectsTagsWhenDraining: {
    shards: [shard(6, 6, ['a']), draining(2, 2, ['a', 'b']), shard(2, 2, ['b'])],
    ranges: [zone(0, 7, 'a'), zone(8, maxKey, 'b')],
    expected: ['b>a 6 draining'],
  },
  BalancerRespectsTagPolicyBeforeImbalance: {
    shards: [shard(2, 5, ['a']), shard(6, 5, ['a']), shard(5, 2)],
    ranges: [zone(0, 100, 'a')],
    expected: ['c>a 8 zoneViolation'],
  },
  BalancerFixesIncorrectTagsWithCrossShardViolationOfTags: {
    shards: [shard(3, 5, ['a']), shard(3, 5, ['a']), shard(3, 5, ['b'])],
    ranges: [zone(0, 1, 'b'), zone(8, maxKey, 'a')],
    expected: ['a>c 0 zoneViolation'],
  },
  BalancerFixesIncorrectTagInOtherwiseBalancedCluster: {
    shards: [shard(3, 5, ['a']), shard(3, 5, ['a']), shard(3, 5)],
    ranges: [zone(0, 10, 'a')],
    expected: ['c>a 6 zoneViolation'],
  },
  BalancerTagAlreadyBalanced: {
    shards: [shard(2, 2, ['a']), shard(2, 2, ['a'])],
    ranges: everything('a'),
    expected: [],
  },
  BalancerMostOverLoadShardHasMultipleTags: {
    shards: [shard(5, 5, ['a', 'b', 'c']), shard(1, 1, ['b']), shard(1, 1, ['c'])],
    ranges: threeZones,
    expected: [`a>b 1 ${one}`],
  },
  BalancerMostOverLoadShardHasMultipleTagsSkipTagWithShardInUse: {
    shards: [shard(5, 5, ['a', 'b', 'c']), shard(1, 1, ['b']), shard(1, 1, ['c'])],
    ranges: threeZones,
    used: ['b'],
    expected: [`a>c 3 ${one}`],
  },
  BalancerFixesIncorrectTagsInOtherwiseBalancedClusterParallel: {
    shards: [shard(5, 3, ['a']), shard(5, 3, ['a']), shard(5, 3), shard(5, 3)],
    ranges: [zone(0, 20, 'a')],
    expected: ['c>a 10 zoneViolation', 'd>b 15 zoneViolation'],
  },
  BalancerHandlesNoShardsWithTag: {
    shards: [shard(2, 5), shard(2, 5)],
    ranges: [zone(0, 7, 'NonExistentZone')],
    expected: [],
  },
}

const counted: Readonly<Record<string, Case>> = {
  SmallClusterShouldBePerfectlyBalanced: { shards: counts(1, 2, 0), expected: [`b>c 1 ${one}`] },
  SingleChunkShouldNotMove: { shards: counts(1, 0), expected: [] },
  ParallelBalancingDoesNotPutChunksOnShardsAboveTheOptimal: {
    shards: counts(100, 90, 90, 80, 0, 0),
    expected: [`a>e 0 ${one}`, `b>f 100 ${one}`],
  },
  JumboChunksNotMovedWhileEnforcingZones: {
    shards: [shard(onlyFree(1, 3)), shard(onlyFree(-1, 3), 0, ['a'])],
    ranges: everything('a'),
    expected: ['a>b 1 zoneViolation'],
  },
  DrainingSingleAppropriateShardFoundMultipleTags: {
    shards: [draining(4), shard(2, 0, both), shard(2, 0, both), shard(2)],
    ranges: fourZones,
    expected: ['a>b 0 draining'],
  },
  NoBalancingDueToAllNodesEitherDrainingOrMaxedOut: { shards: [draining(1), full(6), draining(1)], expected: [] },
  BalancerRespectsMaxShardSizeOnlyBalanceToNonMaxed: {
    shards: [full(2), shard(5), shard(10)],
    expected: [`c>b 7 ${one}`],
  },
  BalancerRespectsMaxShardSizeWhenAllBalanced: { shards: [full(4), shard(4), shard(4)], expected: [] },
  OverloadedShardCannotDonateDueToTags: {
    shards: [shard(5, 0, ['a']), shard(0), shard(0)],
    ranges: everything('a'),
    expected: [],
  },
  BalancerFixesIncorrectTagsInOtherwiseBalancedCluster: {
    shards: [shard(4), shard(2, 0, both), shard(2, 0, both), shard(2)],
    ranges: fourZones,
    expected: ['a>b 0 zoneViolation'],
  },
  ChunksInNoZoneSpanOnAllShardsWithEmptyZones: {
    shards: [shard(3), shard(0, 0, ['a'])],
    ranges: [zone(100, maxKey, 'a')],
    expected: [`a>b 0 ${one}`],
  },
  BalancingNoZoneIgnoreTotalShardSize: {
    shards: [shard(3, 0, ['a']), shard(6, 0, ['a']), shard(3)],
    ranges: [zone(0, 6, 'a')],
    expected: [],
  },
}

const sized: Readonly<Record<string, Case>> = {
  BasicWithManyChunks: { shards: [shard(10, 1), shard(2, 3), shard(20, 0)], expected: [`b>c 10 ${one}`] },
  SmallSingleChunkShouldNotMove: { shards: [shard(1, 1), shard(0)], expected: [] },
  ParallelBalancingDoesNotScheduleMigrationsOnShardsAboveTheThreshold: {
    shards: counts(100, 90, 90, 89, 0, 0),
    expected: [`a>e 0 ${one}`, `b>f 100 ${one}`],
  },
  ParallelBalancingDoesNotMoveDataFromShardsBelowIdealZoneSize: {
    shards: [shard(1, 100), shard(1, 30), shard(1, 5), shard(1, 0)],
    expected: [`a>d 0 ${one}`],
  },
  DrainingFromShardWithFewData: { shards: [shard(1, 20), draining(1, 1)], expected: ['b>a 1 draining'] },
  DrainingMultipleShardsAtLeastOneSelected: {
    shards: [shard(1, 50), draining(1, 5), draining(1, 5)],
    expected: ['b>a 1 draining'],
  },
  NoBalancingDueToAllNodesDraining: { shards: [draining(1, 5), draining(1, 1)], expected: [] },
  ScheduleMigrationForChunkViolatingZone: {
    shards: [shard(1, 2, ['a']), shard(1, 2, ['b'])],
    ranges: everything('a'),
    expected: ['b>a 1 zoneViolation'],
  },
  ScheduleParallelMigrationsForZoneViolations: {
    shards: [shard(1, 2, ['a']), shard(1, 2, ['a']), shard(1, 2, ['b']), shard(1, 2, ['b'])],
    ranges: everything('a'),
    expected: ['c>a 2 zoneViolation', 'd>b 3 zoneViolation'],
  },
  DrainingHasPrecedenceOverZoneViolation: {
    shards: [shard(1, 2, ['a']), shard(1, 2, ['b']), draining(1, 2, ['a'])],
    ranges: everything('a'),
    expected: ['c>a 2 draining'],
  },
}

t.test('the chunk-count policy decides as the server', async (t) => {
  for (const [name, { shards, ranges, used, expected }] of Object.entries({ ...common, ...counted }))
    t.same(byCount(shards, ranges, used), expected, name)
  for (const free of [0, 1, 2]) {
    const shards = [shard(onlyFree(free, 3)), shard(onlyFree(-1, 3), 0, ['a'])]
    t.same(
      byCount(shards, everything('a')),
      [`a>b ${free} zoneViolation`],
      'JumboChunksNotMovedWhileEnforcingZonesRandom',
    )
  }
  for (const free of [0, 1, 2, 3])
    t.same(byCount([shard(onlyFree(free, 4)), shard(0)]), [`a>b ${free} ${one}`], 'JumboChunksNotMovedRandom')
})

t.test('the data-size policy decides as the server', async (t) => {
  for (const [name, { shards, ranges, used, expected }] of Object.entries({ ...common, ...sized }))
    t.same(bySize(shards, ranges, used), expected, name)
})

function zoneCounts(perShard: readonly number[], ranges: readonly ZoneRange[], zones: readonly string[]): number[][] {
  const { chunks } = picture(...perShard.map((n) => shard(n)))
  const distribution = new Distribution(chunks, ranges)
  return ['a', 'b'].map((id) => zones.map((name) => distribution.chunksOn(id, name).length))
}

t.test('chunks are counted by zone as on the server', async (t) => {
  const zones = ['', 'ZoneA', 'ZoneB', 'NotExistingZone']
  const cases: [string, number[], ZoneRange[], number[][]][] = [
    [
      'OneChunkNoZone',
      [1],
      [],
      [
        [1, 0, 0, 0],
        [0, 0, 0, 0],
      ],
    ],
    [
      'OneChunkOneZone',
      [1],
      everything('ZoneA'),
      [
        [0, 1, 0, 0],
        [0, 0, 0, 0],
      ],
    ],
    [
      'MultipleChunksNoZone',
      [2],
      [],
      [
        [2, 0, 0, 0],
        [0, 0, 0, 0],
      ],
    ],
    [
      'MultipleChunksDistributedNoZone',
      [1, 1],
      [],
      [
        [1, 0, 0, 0],
        [1, 0, 0, 0],
      ],
    ],
    [
      'MultipleChunksTwoShardsOneZone',
      [2],
      everything('ZoneA'),
      [
        [0, 2, 0, 0],
        [0, 0, 0, 0],
      ],
    ],
  ]
  for (const [name, perShard, ranges, expected] of cases) t.same(zoneCounts(perShard, ranges, zones), expected, name)
  const inTheMiddle = `${keyOf(0)}5`
  const halves: ZoneRange[] = [
    { min: keyOf(0), max: inTheMiddle, zone: 'ZoneA' },
    { min: inTheMiddle, max: keyOf(1), zone: 'ZoneB' },
  ]
  t.same(
    zoneCounts([1], halves, zones),
    [
      [1, 0, 0, 0],
      [0, 0, 0, 0],
    ],
    'OneChunkMultipleContiguosZones',
  )
  const sparse: ZoneRange[] = [halves[0]!, { min: `${keyOf(0)}8`, max: keyOf(1), zone: 'ZoneB' }]
  t.same(
    zoneCounts([1], sparse, zones),
    [
      [1, 0, 0, 0],
      [0, 0, 0, 0],
    ],
    'OneChunkMultipleSparseZones',
  )
})

t.test('a chunk has the zone that contains all of it', async (t) => {
  const zoneOf = (ranges: readonly ZoneRange[], from: number, to: number) =>
    new Distribution([], ranges).zoneOf({ min: keyOf(from), max: keyOf(to), shard: 'a', isJumbo: false })
  const regular = [zone(1, 10, 'a'), zone(10, 20, 'b'), zone(20, 30, 'c')]
  for (const [from, to, expected] of [
    [0, 1, ''],
    [1, 5, 'a'],
    [10, 20, 'b'],
    [15, 20, 'b'],
    [25, 30, 'c'],
    [35, 40, ''],
    [30, maxKey, ''],
    [40, maxKey, ''],
  ] as const)
    t.equal(zoneOf(regular, from, to), expected, `ChunkZonesSelectorWithRegularKeys ${from} to ${to}`)
  const outer = [zone(0, 100, 'a'), zone(190, 210, 'b'), zone(300, maxKey, 'c')]
  for (const [from, to, expected] of [
    [0, 100, 'a'],
    [100, 189, ''],
    [190, 200, 'b'],
    [200, 210, 'b'],
    [210, 220, ''],
    [210, 300, ''],
    [400, maxKey, 'c'],
  ] as const)
    t.equal(zoneOf(outer, from, to), expected, `ChunkZonesSelectorWithMinMaxKeys ${from} to ${to}`)
})
