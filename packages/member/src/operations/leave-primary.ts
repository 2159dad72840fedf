/** Server: replication_coordinator_impl.cpp, stepDown; topology_coordinator.cpp. */
import { CommandError, DocumentWriter, noCode } from '@shardlab/bson'
import type { MemberHost } from '../member-host.js'
import type { RunningOperation } from './running-operation.js'

/**
 * Waits in vain for another member that could be elected. One that is no primary may leave at once.
 * @throws CommandError 262 ExceededTimeLimit; without a code in 2.6
 */
export async function checkLeavesPrimary(
  { behaviours, clock, context, isPrimary }: Pick<MemberHost, 'behaviours' | 'clock' | 'context' | 'isPrimary'>,
  operation: RunningOperation,
  seconds: number,
): Promise<void> {
  if (isPrimary !== true) return
  const { stepDownError } = behaviours
  if (stepDownError === 'optime') throw noOtherOptime(clock.time[0])
  await operation.sleep(context, seconds * 1000)
  const zone = stepDownError === 'short zone' ? '+0000' : '+00:00'
  throw new CommandError(
    'ExceededTimeLimit',
    `No electable secondaries caught up as of ${localTime(context.now(), zone)}. Please use the replSetStepDown command with the argument {force: true} to force node to step down.`,
  )
}

/** The newest time of other members, of which there are none, is 0. */
function noOtherOptime(ownSeconds: number): CommandError {
  const extra = new DocumentWriter(64).int64('closest', 0n).int64('difference', BigInt(ownSeconds)).finish()
  return new CommandError(noCode, 'no secondaries within 10 seconds of my optime', { extra })
}

/** Server: dateToISOStringLocal, in UTC. */
const localTime = (ms: number, zone: string): string => new Date(ms).toISOString().replace('Z', zone)
