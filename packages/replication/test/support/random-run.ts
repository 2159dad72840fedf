import { CommandError } from '@shardlab/bson'
import {
  configDocument,
  defaultSettings,
  isVoter,
  majorityVoteCount,
  writeMajorityCount,
  type MemberConfig,
  type ReplicaSetConfig,
  type ReplicationCoordinator,
  type ReplicationRules,
} from '@shardlab/replication'
import { behavioursOf } from '@shardlab/sharding'
import { Random } from './random.js'
import { SimulatedSet } from './simulated-set.js'
import type { Defect } from './world.js'

export const memberConfig = (id: number, changes: Partial<MemberConfig> = {}): MemberConfig => ({
  id,
  host: `m${id}:1`,
  arbiterOnly: false,
  buildIndexes: true,
  hidden: false,
  priority: 1,
  tags: [],
  horizons: [],
  delaySecs: 0,
  votes: 1,
  newlyAdded: false,
  ...changes,
})

export const replicaSetConfig = (
  members: readonly MemberConfig[],
  changes: Partial<ReplicaSetConfig> = {},
): ReplicaSetConfig => ({
  name: 'rs',
  version: 1,
  term: 0,
  members,
  settings: defaultSettings,
  majorityJournals: true,
  configServer: false,
  ...changes,
})

export const currentRules: ReplicationRules = behavioursOf('8.0')

function randomConfig(random: Random): ReplicaSetConfig {
  const count = random.pick([1, 2, 3, 3, 3, 4, 5, 5, 7])
  const arbiter = count > 2 && random.chance(0.25) ? count - 1 : -1
  const members = Array.from({ length: count }, (_, id) => {
    if (id === arbiter) return memberConfig(id, { arbiterOnly: true, priority: 0 })
    if (id > 2 && random.chance(0.2)) return memberConfig(id, { votes: 0, priority: 0 })
    return memberConfig(id, { priority: id === 0 ? 1 : random.pick([0, 1, 1, 2, 5]) })
  })
  return replicaSetConfig(members, {
    settings: {
      ...defaultSettings,
      chainingAllowed: random.chance(0.8),
      electionTimeoutMs: random.pick([1000, 2000, 5000]),
      heartbeatIntervalMs: random.pick([500, 2000]),
      catchUpTimeoutMs: random.pick([-1, -1, 0, 2000]),
    },
  })
}

/** Two minutes of writes and faults, then time to recover. @throws Error at a broken invariant */
export function randomRun(seed: number, defects: readonly Defect[] = []): SimulatedSet {
  const random = new Random(seed ^ 0x5eed)
  const rules = { ...currentRules, configTerm: random.chance(0.8), votesNeedSameConfig: random.chance(0.3) }
  const set = new SimulatedSet(seed, randomConfig(random), rules, defects)
  try {
    for (let i = 0; i < 1200; i++) {
      set.schedule.runUntil(set.nowMs + 100)
      if (random.chance(0.7)) set.write()
      if (random.chance(0.03)) fault(set, random)
    }
    recover(set)
  } catch (error) {
    throw new Error(`seed ${seed}: ${(error as Error).message}\n${set.events.slice(-60).join('\n')}`, { cause: error })
  }
  return set
}

function fault(set: SimulatedSet, random: Random): void {
  const member = random.pick(set.members)
  const other = random.pick(set.members)
  switch (random.below(11)) {
    case 0:
      member.crash()
      break
    case 1:
    case 2:
      restart(set, random.pick(set.members))
      break
    case 3:
      if (member !== other) set.part(member, other)
      break
    case 4:
      for (const peer of set.members) if (peer !== member) set.part(member, peer)
      break
    case 5:
      set.cut.clear()
      break
    case 6:
    case 7: {
      // An isolated primary accepts writes until its election timeout.
      const primary = set.writablePrimaries[0]
      for (const peer of set.members) if (primary !== undefined && peer !== primary) set.part(primary, peer)
      break
    }
    case 8:
    case 9:
      reconfigure(set, random)
      break
    default: {
      const { nowMs } = set
      const force = random.chance(0.5)
      member.coordinator?.commands.stepDown(nowMs, { seconds: 10, catchUpSeconds: 2, force })
      member.carryOut()
    }
  }
}

/** Adds, removes or changes one member, on a primary. */
function reconfigure(set: SimulatedSet, random: Random): void {
  const primary = set.writablePrimaries[0]
  if (primary === undefined || !set.rules.configTerm) return
  const coordinator = primary.coordinator!
  const { config, storing } = coordinator.state
  if (storing !== null) return
  const next = set.defects.has('unsafe-reconfig')
    ? unsafeChange(config!, primary.host, random)
    : safeChange(set, coordinator, random)
  if (next === null) return
  set.reconfigurations++
  coordinator.changeConfig(set.nowMs, next)
  primary.carryOut()
}

/** By the command, as a client would. Null: refused. */
function safeChange(set: SimulatedSet, coordinator: ReplicationCoordinator, random: Random): ReplicaSetConfig | null {
  const config = coordinator.state.config!
  const id = random.below(set.members.length)
  const member = config.members.find((other) => other.id === id)
  const others = config.members.filter((other) => other.id !== id)
  const votes = random.chance(0.8) ? 1 : 0
  const changed = {
    ...(member ?? memberConfig(id)),
    votes,
    priority: votes === 0 ? 0 : random.pick([0, 1, 2]),
  } as const
  const removes = member !== undefined && random.chance(0.4)
  const members =
    removes || member?.arbiterOnly === true ? others : [...others, changed].toSorted((a, b) => a.id - b.id)
  const document = configDocument({ ...config, version: config.version + 1, members }, set.rules, true)
  const options = { force: false, isConfigServer: false, sharding: 'shard', defaultWriteConcern: null } as const
  const next = coordinator.commands.reconfigure(set.nowMs, document, options)
  return next instanceof CommandError || !quorumsMeet(config, next) || !quorumsMeet(next, config) ? null : next
}

/**
 * Whether each majority of votes of the first configuration has a member of each write majority of
 * the other. The server does not ask for it: after the removal of a member that leaves a primary
 * and an arbiter, the primary alone is a write majority, while the others may still elect another.
 */
function quorumsMeet(elects: ReplicaSetConfig, writes: ReplicaSetConfig): boolean {
  const voters = new Set(elects.members.filter(isVoter).map(({ id }) => id))
  const writers = writes.members.filter((member) => isVoter(member) && !member.arbiterOnly)
  const elsewhere = writers.filter(({ id }) => !voters.has(id)).length
  const common = Math.max(0, writeMajorityCount(writes) - elsewhere)
  return voters.size - common < majorityVoteCount(elects)
}

/** Without the rule about voters, a primary in a minority could form a majority of its own. */
function unsafeChange(config: ReplicaSetConfig, host: string, random: Random): ReplicaSetConfig | null {
  const members = config.members.filter((member) => member.host === host || random.chance(0.3))
  const next = { ...config, version: config.version + 1, members }
  return members.some((member) => member.host === host && member.priority > 0) ? next : null
}

function restart(set: SimulatedSet, member: SimulatedSet['members'][number]): void {
  if (member.coordinator !== null) return
  set.restarted(member)
  member.start()
}

/** @throws Error when the set has no primary or its members differ after all faults are over */
function recover(set: SimulatedSet): void {
  set.cut.clear()
  set.calm = true
  for (const member of set.members) restart(set, member)
  set.schedule.runUntil(set.nowMs + 120_000)
  // A takeover may have just begun; and sync sources may form a cycle, which members leave when a
  // primary's periodic no-op makes them lag.
  for (let seconds = 0; seconds < 120 && unsettled(set) !== null; seconds++) set.schedule.runUntil(set.nowMs + 1000)
  const problem = unsettled(set)
  if (problem !== null) throw new Error(`${problem} after recovery`)
}

function unsettled(set: SimulatedSet): string | null {
  const primaries = set.writablePrimaries
  if (primaries.length !== 1) return `${primaries.length} primaries`
  const [seconds, increment] = primaries[0]!.last.optime.ts
  const { members } = primaries[0]!.disk.config!
  const behind = set.members.filter(
    ({ host, isArbiter, last: { optime } }) =>
      members.some((member) => member.host === host) &&
      !isArbiter &&
      (optime.ts[0] !== seconds || optime.ts[1] !== increment),
  )
  return behind.length === 0 ? null : `${behind.map(({ host }) => host).join(', ')} did not catch up`
}
