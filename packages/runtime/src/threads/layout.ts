import { availableParallelism } from 'node:os'

/**
 * This many members have a worker each on any machine: three shards, config server, mongos and
 * balancer.
 */
const ownWorkerMembers = 6
/** This many have a worker each where there are as many cores. */
const mostOwnWorkers = 12
const mostDefaultHosts = 4

/**
 * `per-member`, or the number of workers that share the members. Default: `per-member` for at most
 * 6 members, and for at most 12 where there are as many cores; for more members one less than the
 * number of cores, 1 to 4.
 */
export type HostsOption = number | 'per-member'

/** null: each member has its own worker. */
export function sharedHostCount(hosts: HostsOption | undefined, members: number): number | null {
  if (hosts === 'per-member') return null
  if (hosts !== undefined) {
    if (!Number.isInteger(hosts) || hosts < 1)
      throw new RangeError(`hosts is 'per-member' or a number of workers, not ${hosts}`)
    return hosts
  }
  const cores = availableParallelism()
  if (members <= Math.max(ownWorkerMembers, Math.min(cores, mostOwnWorkers))) return null
  // The caller's thread needs a core, too. A further worker would have none, and each message to it
  // would wake a thread.
  return Math.max(1, Math.min(cores - 1, mostDefaultHosts))
}
