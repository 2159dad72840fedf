import { giveUpTurn, type RunningOperation, type TimeSlice } from '@shardlab/member'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'
import { newSlice } from './new-slice.js'

/**
 * Long work that reads no cursor. It yields after each document, key, or other small step, or the
 * number of such steps.
 */
export type SteppedWork<T> = Generator<number | void, T, void>

/**
 * Runs the work over as many turns as it takes. Other commands run in between, so it reads
 * snapshots or looks again at what it changes.
 * @param operation null: background work, which nothing interrupts
 * @throws CommandError 50 MaxTimeMSExpired, or the one with which the operation was killed
 */
export function inTurns<T>(
  host: Pick<NodeHost, 'context' | 'parameters'>,
  operation: RunningOperation | null,
  work: SteppedWork<T>,
): Promise<T> {
  return untilDone(host, work, (slice) => giveUpTurn(host.context, operation, slice))
}

/** {@link inTurns} for a command that only reads and has entered: outlasts its member's state. */
export function readInTurns<T>(
  { host, operation }: Pick<NodeInvocation, 'host' | 'operation'>,
  work: SteppedWork<T>,
): Promise<T> {
  return untilDone(host, work, (slice) =>
    host.reads.during(host.context, operation, (context) => giveUpTurn(context, operation, slice)),
  )
}

async function untilDone<T>(
  host: Pick<NodeHost, 'context' | 'parameters'>,
  work: SteppedWork<T>,
  pause: (slice: TimeSlice) => Promise<void>,
): Promise<T> {
  const slice = newSlice(host)
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    if (typeof step.value === 'number') slice.add(step.value)
    else slice.worked()
    if (slice.isOver) await pause(slice)
  }
}
