import { availableParallelism } from 'node:os'

/** Up to this many members each get a worker of their own on any machine, unless told otherwise: three shards with what belongs to them. */
const ownWorkerMembers = 6
/** So many do where each of them finds a core. */
const mostOwnWorkers = 12
const mostDefaultHosts = 4

/**
 * `per-member`, or how many workers share the members. Default: `per-member` up to 6 members, and up to 12 where there are as many cores;
 * for more members one core less than there are, 1 to 4.
 */
export type HostsOption = number | 'per-member'

/** How many workers a cluster of that many members shares; null: each member has its own. */
export function sharedHostCount(hosts: HostsOption | undefined, members: number): number | null {
  if (hosts === 'per-member') return null
  if (hosts !== undefined) {
    if (!Number.isInteger(hosts) || hosts < 1)
      throw new RangeError(`hosts is 'per-member' or a number of workers, not ${hosts}`)
    return hosts
  }
  const cores = availableParallelism()
  if (members <= Math.max(ownWorkerMembers, Math.min(cores, mostOwnWorkers))) return null
  // Whoever asks needs a core, too: a worker more would have none, and each message to it would wake a thread.
  return Math.max(1, Math.min(cores - 1, mostDefaultHosts))
}
