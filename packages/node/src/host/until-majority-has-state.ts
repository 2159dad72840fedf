import { ErrorCodes, type CommandError } from '@shardlab/bson'
import type { NodeHost } from './node-host.js'
import { retryUntilDone } from './retry-until-done.js'

/**
 * For work that an earlier primary has begun. Before a majority has its records, a member without
 * them may become primary and end the work in another way; so nothing of it may reach other members
 * until this resolves. Server: PrimaryOnlyService::onStepUp, WaitForMajorityService.
 */
export function untilMajorityHasState(node: NodeHost): Promise<void> {
  return retryUntilDone(node, () => node.flushToMajority(), isFullDisk)
}

/** Work that is decided waits until the disk has room. */
export const isFullDisk = ({ code }: CommandError): boolean => code === ErrorCodes.OutOfDiskSpace
