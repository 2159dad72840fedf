import { balancerAddress, configAddress, namedSteps, type Random } from '@shardlab/actor'
import type { FaultVerbName } from '@shardlab/cluster'
import { pick } from '../draw.js'

export interface Victims {
  readonly shards: readonly string[]
  readonly mongos: readonly string[]
  /** A member of a shard or of the config server. */
  readonly memberOf: (set: string, random: Random) => string
}

/** Mostly short; sometimes longer than a router searches for a member. */
const lasting = (random: Random): string =>
  `${Math.round(10 + random.fraction() * (random.chance(1, 8) ? 3000 : 300))}ms`

const withDisk = (random: Random, { shards, memberOf }: Victims): string =>
  memberOf(random.chance(1, 5) ? configAddress : pick(random, shards), random)

function anyMember(random: Random, victims: Victims): string {
  const choice = random.below(10)
  if (choice < 6) return victims.memberOf(pick(random, victims.shards), random)
  if (choice < 8) return victims.memberOf(configAddress, random)
  return choice === 8 ? pick(random, victims.mongos) : balancerAddress
}

function link(random: Random, { shards, mongos, memberOf }: Victims): readonly [string, string] {
  const [one, other] = random.shuffled([configAddress, ...shards, ...mongos])
  const end = (name: string) => (mongos.includes(name) ? name : memberOf(name, random))
  return [end(one!), end(other!)]
}

const betweenOrOneWay = (random: Random, victims: Victims): string => {
  const [one, other] = link(random, victims)
  return random.chance(1, 2) ? `between ${one} and ${other}` : `from ${one} to ${other}`
}

const percentage = (random: Random): string => `${2 + random.below(30)}%`

/** Everywhere, or between two members. */
const somewhere = (random: Random, victims: Victims): string =>
  random.chance(1, 3) ? 'between members and members' : betweenOrOneWay(random, victims)

const atStep = (words: string) => (random: Random) => [
  `${words} at ${pick(random, namedSteps)} first 1 for ${Math.round(300 + random.fraction() * 3000)}ms`,
]

/** Only members without a disk: losing a disk loses acknowledged writes. */
const withoutDisk = (random: Random, { mongos }: Victims): string => pick(random, [...mongos, balancerAddress])

/** Each fault of a list is applied while the one before is active. */
export const faultTexts: Readonly<Record<FaultVerbName, (random: Random, victims: Victims) => readonly string[]>> = {
  crash: (random, victims) => [`crash ${anyMember(random, victims)} for ${lasting(random)}`],
  destroy: (random, victims) => [`destroy ${withoutDisk(random, victims)} for ${lasting(random)}`],
  restart: (random, victims) => [`restart ${anyMember(random, victims)}`],
  stop: (random, victims) => [`stop ${anyMember(random, victims)} for ${lasting(random)}`],
  pause: (random, victims) => [`pause ${anyMember(random, victims)} for ${lasting(random)}`],
  resume: (random, victims) => {
    const member = anyMember(random, victims)
    return [`pause ${member} for 3s`, `resume ${member} after ${lasting(random)}`]
  },
  stepDown: (random, victims) => [`step down ${withDisk(random, victims)} for ${lasting(random)}`],
  slow: (random, victims) => [`slow ${anyMember(random, victims)} by ${2 + random.below(30)}x for ${lasting(random)}`],
  slowDisk: (random, victims) => [
    `slow disk of ${withDisk(random, victims)} by ${1 + random.below(30)}ms for ${lasting(random)}`,
  ],
  fullDisk: (random, victims) => [`fill disk of ${withDisk(random, victims)} for ${lasting(random)}`],
  skewClock: (random, victims) => [
    `skew clock of ${anyMember(random, victims)} by ${random.chance(1, 3) ? '-' : ''}${pick(random, ['30ms', '5s', '10m'])} for ${lasting(random)}`,
  ],
  jumpClock: (random, victims) => [
    `jump clock of ${anyMember(random, victims)} by ${random.chance(1, 2) ? '-' : ''}${pick(random, ['30ms', '5s', '10m'])} for ${lasting(random)}`,
  ],
  freezeRoutes: (random, { mongos }) => [`freeze routes of ${pick(random, mongos)} for ${lasting(random)}`],
  stallRangeDeleter: (random, { shards, memberOf }) => [
    `stall range deleter of ${memberOf(pick(random, shards), random)} for ${lasting(random)}`,
  ],
  partition: (random, victims) => {
    const [one, other] = link(random, victims)
    const from = random.chance(1, 4) ? '' : ` from ${other}`
    return [`partition ${one}${from}${random.chance(1, 3) ? ' one way' : ''} for ${lasting(random)}`]
  },
  delay: (random, victims) => [
    `delay ${percentage(random)} ${somewhere(random, victims)} by 1ms..${2 + random.below(60)}ms for ${lasting(random)}`,
  ],
  limit: (random, victims) => [
    `limit ${somewhere(random, victims)} to ${pick(random, [10, 100, 1000])}KB/s for ${lasting(random)}`,
  ],
  duplicate: (random, victims) => [
    `duplicate ${percentage(random)} ${somewhere(random, victims)} for ${lasting(random)}`,
  ],
  drop: (random, victims) => [`drop ${percentage(random)} ${somewhere(random, victims)} for ${lasting(random)}`],
  refuse: (random, victims) => {
    const [one, other] = link(random, victims)
    return [`refuse connections to ${one}${random.chance(1, 2) ? ` from ${other}` : ''} for ${lasting(random)}`]
  },
  cut: (random, victims) => {
    const [one, other] = link(random, victims)
    const to = pick(random, ['', ` to ${other}`, ' to clients'])
    return [`cut ${percentage(random)} replies of ${one}${to} for ${lasting(random)}`]
  },
  hold: atStep('hold'),
  fail: atStep('fail'),
  crashAt: atStep('crash'),
  delayReplication: (random, victims) => [
    `delay replication of ${withDisk(random, victims)} by ${1 + random.below(2000)}ms for ${lasting(random)}`,
  ],
  shrinkOplog: (random, victims) => [
    `shrink oplog of ${withDisk(random, victims)} to ${pick(random, [4, 64, 512])}KB for ${lasting(random)}`,
  ],
}
