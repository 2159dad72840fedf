import { availableParallelism } from 'node:os'

const defaultHostsMax = 4

/**
 * `per-member`, or the number of workers that share the members. Default: one less than there are
 * cores, 1 to 4.
 */
export type HostsOption = number | 'per-member'

/** null: each member has its own worker. */
export function sharedHostCount(hosts: HostsOption | undefined): number | null {
  if (hosts === 'per-member') return null
  if (hosts !== undefined) {
    if (!Number.isInteger(hosts) || hosts < 1)
      throw new RangeError(`hosts is 'per-member' or a number of workers, not ${hosts}`)
    return hosts
  }
  // The caller's thread needs a core, too. A further worker would have none, and each message to it
  // would wake a thread.
  return Math.max(1, Math.min(availableParallelism() - 1, defaultHostsMax))
}
