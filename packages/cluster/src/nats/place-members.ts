import { configAddress } from '@shardlab/actor'
import { suggestion } from '@shardlab/quantities'
import type { MemberSpec } from '@shardlab/runtime'
import { Spread, type Placement } from '@shardlab/runtime/nats'
import { OptionError } from '../option-error.js'
import type { ClusterMachines } from './nats-options.js'

/** The names in {@link ClusterMachines.place}, by the role of a member. */
const groups: Readonly<Record<string, string>> = {
  mongos: 'mongos',
  shard: 'shards',
  'config-server': configAddress,
  balancer: 'balancer',
  'balancer-of-sets': 'balancer',
}

/**
 * @param known names of sets and members
 * @throws OptionError a name that no member has
 */
export function checkPlaces({ place = {} }: ClusterMachines, known: readonly string[]): void {
  const names = [...new Set([...Object.values(groups), ...known])]
  for (const name of Object.keys(place))
    if (!names.includes(name))
      throw new OptionError(
        `place has ${name}, which is no member of this cluster; ${suggestion(name, names) ?? `use ${names.join(', ')}.`}`,
      )
}

export function placeMembers({ machines, place = {} }: ClusterMachines): Placement {
  const spread = new Spread()
  return (spec: MemberSpec) => {
    const { address, set, role } = spec
    const among = place[address] ?? (set === undefined ? undefined : place[set]) ?? place[groups[role] ?? role]
    return spread.choose(spec, among ?? machines)
  }
}
