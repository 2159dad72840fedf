/** Server: replication_coordinator_impl.cpp, stepDown; topology_coordinator.cpp. */
import { CommandError, DocumentWriter, noCode } from '@shardlab/bson'
import type { MemberHost } from '../member-host.js'
import type { RunningOperation } from './running-operation.js'

type LeavingHost = Pick<
  MemberHost,
  'behaviours' | 'clock' | 'context' | 'isPrimary' | 'isStandalone' | 'stepDownForShutdown'
>

/**
 * Before a primary shuts down. Alone it waits in vain for another member that could be elected; a
 * standalone may leave at once, as a member that is no primary. With `force` it leaves after the
 * attempt.
 * @throws CommandError 262 ExceededTimeLimit; without a code in 2.6
 */
export async function leavePrimary(
  host: LeavingHost,
  operation: RunningOperation,
  { seconds, force }: { readonly seconds: number; readonly force: boolean },
): Promise<void> {
  if (host.isPrimary !== true || host.isStandalone === true) return
  const steppedDown = host.stepDownForShutdown?.(seconds) ?? null
  if (steppedDown !== null) {
    const error = await operation.interruptible(steppedDown)
    if (error !== null && !force) throw error
    return
  }
  if (!force) await waitInVain(host, operation, seconds)
}

async function waitInVain(
  { behaviours, clock, context }: LeavingHost,
  operation: RunningOperation,
  seconds: number,
): Promise<void> {
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
