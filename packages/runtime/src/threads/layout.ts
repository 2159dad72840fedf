import { availableParallelism } from 'node:os'

/** Up to this many members each get a worker of their own, unless told otherwise. */
export const ownWorkerMembers = 12
const mostDefaultHosts = 4

/** `per-member`, or how many workers share the members. Default: `per-member` up to 12 members, then min(cores, 4). */
export type HostsOption = number | 'per-member'

/** How many workers a cluster of that many members shares; null: each member has its own. */
export function sharedHostCount(hosts: HostsOption | undefined, members: number): number | null {
  if (hosts === 'per-member') return null
  if (hosts !== undefined) {
    if (!Number.isInteger(hosts) || hosts < 1) throw new RangeError(`hosts is 'per-member' or a number of workers, not ${hosts}`)
    return hosts
  }
  return members <= ownWorkerMembers ? null : Math.min(availableParallelism(), mostDefaultHosts)
}
