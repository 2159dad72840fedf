/** The command replSetStepDown. Server: repl_set_commands.cpp, prepareForStepDownAttempt. */
import { CommandError, DocumentWriter, noCode } from '@shardlab/bson'
import type { StepDownError } from '../effects.js'
import { attemptStepDown, type StepDownRequest } from '../primary/step-down.js'
import type { ReplicationRules } from '../rules.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { uninitializedFault } from './answer.js'

export interface StepDownArguments {
  /** 0: the default, a minute. */
  readonly seconds: number
  /** Null: the default, ten seconds, or none with `force`. */
  readonly catchUpSeconds: number | null
  readonly force: boolean
}

const defaultSeconds = 60
const defaultCatchUpSeconds = 10

/** @returns null: the attempt began; an effect reports its end */
export function stepDown(state: ProtocolState, args: StepDownArguments): CommandError | null {
  const uninitialized = uninitializedFault(state)
  if (uninitialized !== null) return uninitialized
  const request = requestOf(state, args)
  if (request instanceof CommandError) return request
  switch (attemptStepDown(state, request)) {
    case 'not-primary':
      return new CommandError('NotWritablePrimary', "not primary so can't step down")
    case 'in-progress':
      return new CommandError('ConflictingOperationInProgress', 'This node is already in the process of stepping down')
    default:
      return null
  }
}

function requestOf(
  { nowMs, rules }: ProtocolState,
  { seconds, catchUpSeconds, force }: StepDownArguments,
): StepDownRequest | CommandError {
  const period = seconds === 0 ? defaultSeconds : seconds
  if (period < 0) return new CommandError('BadValue', 'stepdown period must be a positive integer')
  const catchUp = catchUpSeconds ?? (force ? 0 : defaultCatchUpSeconds)
  if (catchUp < 0) {
    return new CommandError('BadValue', 'secondaryCatchUpPeriodSecs period must be a positive or absent')
  }
  if (period < catchUp) {
    return new CommandError('BadValue', 'stepdown period must be longer than secondaryCatchUpPeriodSecs')
  }
  // Version 2.6 waits for no member.
  const waitMs = rules.stepDownError === 'optime' ? 0 : catchUp * 1000
  return { waitUntilMs: nowMs + waitMs, stepDownUntilMs: nowMs + period * 1000, force }
}

/** Times of newest entries, in seconds: of this member, and of the member that is closest to it. */
export interface NewestSeconds {
  readonly own: number
  readonly closest: number
}

/** The reply of the command after the effect `step-down-failed`. */
export function stepDownFailure(
  error: StepDownError,
  nowMs: number,
  { stepDownError }: ReplicationRules,
  newest: NewestSeconds = { own: 0, closest: 0 },
): CommandError {
  switch (error) {
    case 'other-step-down':
      return new CommandError(
        'PrimarySteppedDown',
        'While waiting for secondaries to catch up before stepping down, this node decided to step down for other reasons',
      )
    case 'too-late':
      return new CommandError(
        'ExceededTimeLimit',
        'By the time we were ready to step down, we were already past the time we were supposed to step down until',
      )
    case 'not-caught-up': {
      if (stepDownError === 'optime') return notClose(newest)
      const zone = stepDownError === 'long zone' ? '+00:00' : '+0000'
      const time = new Date(nowMs).toISOString().replace('Z', zone)
      return new CommandError(
        'ExceededTimeLimit',
        `No electable secondaries caught up as of ${time}. Please use the replSetStepDown command with the argument ` +
          '{force: true} to force node to step down.',
      )
    }
  }
}

/** Of 2.6: without a code. */
function notClose({ own, closest }: NewestSeconds): CommandError {
  const extra = new DocumentWriter(64)
    .int64('closest', closest)
    .int64('difference', own - closest)
    .finish()
  return new CommandError(noCode, 'no secondaries within 10 seconds of my optime', { extra })
}
