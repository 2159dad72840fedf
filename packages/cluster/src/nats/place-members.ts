import { configAddress } from '@shardlab/actor'
import type { MemberSpec } from '@shardlab/runtime'
import { Spread, type Placement } from '@shardlab/runtime/nats'
import type { ClusterMachines } from './nats-options.js'

/** The names in {@link ClusterMachines.place}, by the role of a member. */
const groups: Readonly<Record<string, string>> = {
  mongos: 'mongos',
  shard: 'shards',
  'config-server': configAddress,
  balancer: 'balancer',
  'balancer-of-sets': 'balancer',
}

export function placeMembers({ machines, place = {} }: ClusterMachines): Placement {
  const spread = new Spread()
  return (spec: MemberSpec) => {
    const { address, set, role } = spec
    const among = place[address] ?? (set === undefined ? undefined : place[set]) ?? place[groups[role] ?? role]
    return spread.choose(spec, among ?? machines)
  }
}
