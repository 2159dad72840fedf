/** Takes primaries away from sets, in ways that make elections, rollbacks and stale members. */
import type { Random } from '@shardlab/actor'
import { pick } from '../draw.js'
import { Activity } from './activity.js'

const actionsMax = 12

interface Victim {
  readonly primary: string
  /** In random order. */
  readonly others: readonly string[]
}

export class Failovers extends Activity {
  readonly name = 'failovers'

  async run(): Promise<void> {
    const { random: root, pace, cluster } = this.world
    const random = root.fork('failovers')
    for (let i = 1; i <= actionsMax && pace.isAnyClientWorking; i++) {
      const draw = random.fork(String(i))
      await cluster.advance(draw.fraction() * 1500)
      await pace.nextSend()
      if (!pace.isAnyClientWorking) return
      const victim = await this.#victim(draw)
      if (victim !== null) await this.#act(draw, victim)
    }
  }

  async #victim(random: Random): Promise<Victim | null> {
    const { sets } = this.world
    const set = pick(random, sets.names)
    const primary = await sets.primaryOf(set)
    if (primary === null) return null
    return { primary, others: random.shuffled(sets.membersOf(set).filter((member) => member !== primary)) }
  }

  async #act(random: Random, victim: Victim): Promise<void> {
    const story = pick(random, storyNames)
    const applied = await stories[story](this, random, victim)
    if (applied) this.count(story)
  }

  /** @returns whether at least one of them was applied */
  async apply(...faults: readonly string[]): Promise<boolean> {
    let applied = false
    for (const fault of faults) applied = (await this.world.applyFault(fault)) || applied
    return applied
  }

  wait(ms: number): Promise<void> {
    return this.world.cluster.advance(ms)
  }
}

type Story = (failovers: Failovers, random: Random, victim: Victim) => Promise<boolean>

/** Mostly longer than an election timeout. */
const lasting = (random: Random): string => `${1000 + random.below(5000)}ms`

const stories = {
  'primary crashed': (failovers, random, { primary }) => failovers.apply(`crash ${primary} for ${lasting(random)}`),

  /** It accepts writes of `w: 1` until it notices. */
  'primary isolated': (failovers, random, { primary, others }) => failovers.apply(...cutOff(primary, others, random)),

  /** Its clients are served before it learns of the next primary. */
  'primary frozen': (failovers, random, { primary }) => failovers.apply(`pause ${primary} for ${lasting(random)}`),

  'primary stepped down': (failovers, random, { primary }) =>
    failovers.apply(`step down ${primary} for ${lasting(random)}`),

  'majority crashed': (failovers, random, { primary, others }) =>
    failovers.apply(
      ...[primary, ...others].slice(0, majorityOf(others)).map((member) => `crash ${member} for ${lasting(random)}`),
    ),

  /** Messages take so long that candidates do not notice each other. */
  'several candidates': async (failovers, random, { primary, others }) => {
    const slowest = 50 + random.below(250)
    const slow = pairs([primary, ...others]).map(
      ([one, other]) => `delay 100% between ${one} and ${other} by 20ms..${slowest}ms for 7s`,
    )
    const applied = await failovers.apply(...slow, `step down ${primary} for ${lasting(random)}`)
    // A voter that restarts must remember its vote.
    await failovers.wait(2000 + random.below(500))
    return (await failovers.apply(`restart ${pick(random, [primary, ...others])}`)) || applied
  },

  /** Those that have the newest entries fail, and a member that is behind runs for election. */
  'newest members crashed': async (failovers, random, { primary, others }) => {
    const [behind, ...fresh] = others as [string, ...string[]]
    const applied = await failovers.apply(
      ...[primary, ...fresh].map((source) => `partition ${behind} from ${source} only replication.fetch for 9s`),
    )
    await failovers.wait(500 + random.below(1500))
    const crashed = await failovers.apply(`crash ${primary} for ${3000 + random.below(5000)}ms`)
    if (random.chance(1, 2)) {
      await failovers.wait(2000 + random.below(1500))
      for (const member of fresh) await failovers.apply(`restart ${member}`)
    }
    return applied || crashed
  },
} as const satisfies Readonly<Record<string, Story>>

const storyNames = Object.keys(stories) as (keyof typeof stories)[]

function cutOff(member: string, others: readonly string[], random: Random): string[] {
  const time = lasting(random)
  return others.map((other) => `partition ${member} from ${other} for ${time}`)
}

function pairs(members: readonly string[]): (readonly [string, string])[] {
  return members.flatMap((one, i) => members.slice(i + 1).map((other) => [one, other] as const))
}

const majorityOf = (others: readonly string[]): number => Math.floor((others.length + 1) / 2) + 1
