import { faultVerbs, OptionError, type FaultVerbName } from '@shardlab/cluster'
import { activityNames, type ActivityName, type Reduction, type SwarmPlan } from './types.js'

/** As options of `shardlab swarm`. */
export const limitNames = ['clients', 'steps', 'shards', 'mongos'] as const

const membersMax = 7

/** Membership drops a shard, and two others must stay. */
const membershipShardsMin = 3

export function reduced(plan: SwarmPlan, { without = [], clients, steps, shards, mongos }: Reduction): SwarmPlan {
  const most = (limit: number | undefined, value: number): number => Math.min(limit ?? value, value)
  const shardCount = most(shards, plan.shards)
  return {
    ...plan,
    shards: shardCount,
    mongos: most(mongos, plan.mongos),
    workers: most(clients, plan.workers),
    stepsOfWorker: most(steps, plan.stepsOfWorker),
    activities: plan.activities.filter(
      (name) => !without.includes(name) && (name !== 'membership' || shardCount >= membershipShardsMin),
    ),
    faults: plan.faults.filter((verb) => !without.includes(verb)),
  }
}

/** @throws OptionError */
export function checkReduction(reduction: Reduction): void {
  for (const name of reduction.without ?? [])
    if (!faultVerbs.includes(name as FaultVerbName) && !activityNames.includes(name as ActivityName))
      throw new OptionError(
        `${name} is neither a fault verb nor an activity; the verbs are ${faultVerbs.join(', ')}, the activities ${activityNames.join(', ')}.`,
      )
  for (const name of limitNames) {
    const value = reduction[name]
    if (value !== undefined && (!Number.isInteger(value) || value < 1))
      throw new OptionError(`${name} must be an integer of at least 1.`)
  }
  const { members } = reduction
  if (members !== undefined && (!Number.isInteger(members) || members < 1 || members > membersMax))
    throw new OptionError(`members must be an integer from 1 to ${membersMax}.`)
}

export function reductionText({ without = [], members, ...limits }: Reduction): string {
  return [
    ...(without.length > 0 ? [`--without ${without.join(' ')}`] : []),
    ...(members === undefined ? [] : [`--members ${members}`]),
    ...limitNames.flatMap((name) => (limits[name] === undefined ? [] : [`--${name} ${limits[name]}`])),
  ].join(' ')
}
