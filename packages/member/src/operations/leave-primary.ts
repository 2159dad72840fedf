/** Server: replication_coordinator_impl.cpp, stepDown. */
import { CommandError } from '@shardlab/bson'
import type { MemberHost } from '../member-host.js'
import type { RunningOperation } from './running-operation.js'

/**
 * Waits in vain for another member that could be elected. One that is no primary may leave at once.
 * @throws CommandError 262 ExceededTimeLimit
 */
export async function checkLeavesPrimary(
  { context, isPrimary }: Pick<MemberHost, 'context' | 'isPrimary'>,
  operation: RunningOperation,
  seconds: number,
): Promise<void> {
  if (isPrimary !== true) return
  await operation.sleep(context, seconds * 1000)
  throw new CommandError(
    'ExceededTimeLimit',
    `No electable secondaries caught up as of ${localTime(context.now())}. Please use the replSetStepDown command with the argument {force: true} to force node to step down.`,
  )
}

/** Server: dateToISOStringLocal, in UTC. */
const localTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '+00:00')
