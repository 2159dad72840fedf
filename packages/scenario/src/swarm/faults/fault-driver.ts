import type { Random } from '@shardlab/actor'
import type { FaultVerbName } from '@shardlab/cluster'
import { pick } from '../draw.js'
import type { SwarmWorld } from '../world.js'
import { faultTexts, type Victims } from './fault-texts.js'

/** Mean virtual time between two faults of a verb; longer for those that take a member down. */
const meanIntervalMs: Readonly<Partial<Record<FaultVerbName, number>>> = {
  crash: 300,
  destroy: 500,
  stop: 500,
  pause: 400,
  resume: 400,
  partition: 300,
  refuse: 300,
  fullDisk: 300,
  hold: 120,
  fail: 80,
  crashAt: 120,
}
const defaultIntervalMs = 200
/** For restarts of members that were hit while starting. */
const restartsMax = 100

export class FaultDriver {
  readonly #world: SwarmWorld

  constructor(world: SwarmWorld) {
    this.#world = world
  }

  async run(): Promise<void> {
    const { plan, random } = this.#world
    await Promise.all(plan.faults.map((verb) => this.#repeat(verb, random.fork(`trouble: ${verb}`))))
  }

  async heal(): Promise<void> {
    const { cluster, verdicts, timeline } = this.#world
    for (let attempt = 1; ; attempt++) {
      try {
        await cluster.faults.heal()
        for (const { address, state } of cluster.members())
          if (state === 'crashed' || state === 'stopped') await cluster.restart(address)
      } catch (error) {
        if (attempt === restartsMax) throw error
      }
      // Starts in progress complete in this time.
      await cluster.advance(20)
      const states = cluster.members().map(({ state }) => state)
      if (cluster.faults.list().length === 0 && states.every((state) => state === 'running')) break
      if (attempt === restartsMax) {
        verdicts.failed('convergence', `members do not start: ${states.join()}`)
        break
      }
    }
    timeline?.note('fault', '', null, 'all faults are healed')
  }

  /** Each verb has a random stream of its own, so leaving one out does not change the others. */
  async #repeat(verb: FaultVerbName, random: Random): Promise<void> {
    const { cluster, pace } = this.#world
    const meanMs = meanIntervalMs[verb] ?? defaultIntervalMs
    for (let i = 1; pace.isAnyClientWorking; i++) {
      const draw = random.fork(String(i))
      await cluster.advance(draw.fraction() * 2 * meanMs)
      await pace.nextSend()
      await cluster.advance(draw.fraction() * 4)
      if (!pace.isAnyClientWorking) return
      for (const fault of faultTexts[verb](draw, await this.#victims())) await this.#world.applyFault(fault)
    }
  }

  async #victims(): Promise<Victims> {
    const { cluster, sets } = this.#world
    const { shards, mongos } = cluster
    if (!sets.areSeveral) return { shards, mongos, memberOf: (set) => set }
    const primaries = new Map<string, string | null>()
    for (const set of sets.names) primaries.set(set, await sets.primaryOf(set))
    const memberOf = (set: string, random: Random): string => {
      const primary = random.chance(1, 2) ? primaries.get(set) : null
      return primary ?? pick(random, sets.membersOf(set))
    }
    return { shards, mongos, memberOf }
  }
}
