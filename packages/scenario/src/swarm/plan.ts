import { createRandom, type Random } from '@shardlab/actor'
import { faultVerbs, type FaultVerbName } from '@shardlab/cluster'
import { behavioursOf, emulatedVersions, type EmulatedVersion } from '@shardlab/sharding'
import { pick } from './draw.js'
import { reduced } from './reduction.js'
import { activityNames, type ActivityName, type Reduction, type SwarmPlan } from './types.js'

/**
 * These versions support everything the swarm's clients do: changing shard keys of documents, and
 * refining those of collections.
 */
const capable: readonly EmulatedVersion[] = emulatedVersions.filter(
  (version) => behavioursOf(version).refineCollectionShardKeyCommand,
)
const older = emulatedVersions.filter((version) => !capable.includes(version))

/** Consecutive seeds use different versions; one of eight uses a version with fewer features. */
function versionOf(seed: number): EmulatedVersion {
  return seed % 8 === 7 ? older[((seed - 7) / 8) % older.length]! : capable[seed % capable.length]!
}

const chunkSizes: readonly (number | null)[] = [null, null, 1024, 2048, 8192]

export function planOf(seed: number, reduction: Reduction = {}): SwarmPlan {
  return reduced(wholePlan(seed, reduction.members), reduction)
}

function wholePlan(seed: number, memberCount: number | undefined): SwarmPlan {
  const random = createRandom(seed).fork('swarm')
  const shape = random.fork('shape')
  const shards = 1 + shape.below(shape.chance(1, 4) ? 8 : 4)
  const emulate = versionOf(seed)
  // Versions without periodic no-ops have no causally consistent reads, which the checkers need.
  const drawn = random.fork('sets').chance(1, 5) ? 3 : 1
  const members = behavioursOf(emulate).periodicNoops ? (memberCount ?? drawn) : 1
  return {
    seed,
    emulate,
    shards,
    mongos: 1 + shape.below(3),
    members,
    catchUpTimeoutMs: pick(random.fork('catch-up'), [-1, -1, 0, 1000]),
    chunkSizeBytes: pick(shape, chunkSizes),
    balancerRoundIntervalMs: pick(shape, [500, 1000, 10_000]),
    balancing: shape.chance(2, 3),
    orphansAtOnce: shape.chance(1, 2),
    networkTimeoutMs: pick(shape, [500, 2000, 10_000]),
    findReplicaSetHostTimeoutMs: pick(shape, [500, 1000, 3000]),
    workers: 2 + shape.below(2),
    stepsOfWorker: 12 + shape.below(20),
    activities: activitiesOf(random.fork('activities'), emulate, shards, members),
    faults: faultsOf(random.fork('faults')),
  }
}

/**
 * Each activity is part of some runs: runs with all of them hide defects that smaller ones show,
 * and vice versa.
 */
function activitiesOf(random: Random, emulate: EmulatedVersion, shards: number, members: number): ActivityName[] {
  const chances: Record<ActivityName, number> = {
    placement: 90,
    'short-lived': 45,
    'unique-keys': 50,
    membership: shards > 2 ? 45 : 0,
    resharding: 50,
    maintenance: 40,
    'unique-library': 25,
    registers: members > 1 ? 100 : 0,
    failovers: members > 1 ? 85 : 0,
    streams: behavioursOf(emulate).language.has('stage', '$changeStream') ? 15 : 0,
    'rival-primaries': members > 1 ? 35 : 0,
    transactions: behavioursOf(emulate).shardedTransactions ? 35 : 0,
    users: 10,
  }
  return activityNames.filter((name) => random.fork(name).chance(chances[name], 100))
}

/** One of ten runs has no faults, the others about a third of the verbs. */
function faultsOf(random: Random): FaultVerbName[] {
  if (random.chance(1, 10)) return []
  return faultVerbs.filter((verb) => random.fork(verb).chance(1, 3))
}
