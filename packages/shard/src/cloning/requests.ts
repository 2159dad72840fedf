/** What donors and recipients ask each other. */
import {
  RequestFailedError,
  StepFailedError,
  type ActorContext,
  type CancelSignal,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'

export interface RepeatedRequest {
  /** Longest wait for one answer. */
  readonly timeoutMs: number
  readonly attemptsMax: number
  /** Ends the waiting. */
  readonly signal?: CancelSignal
}

/** Pause before a member is asked again that could not be reached: a connection that broke is soon there again. */
const retryPauseMs = 50

/** Sends a request that does no harm when it comes twice; again when no answer comes. @throws RequestFailedError */
export async function askAgain<K extends MessageKind>(
  context: ActorContext,
  member: string,
  kind: K,
  request: RequestOf<K>,
  repeated: RepeatedRequest,
): Promise<ReplyOf<K>> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await context.request(member, kind, request, repeated)
    } catch (error) {
      if (!(error instanceof RequestFailedError) || error.reason === 'cancelled' || attempt >= repeated.attemptsMax) throw error
      if (error.reason !== 'timed-out') await context.sleep(retryPauseMs, repeated.signal)
    }
  }
}

/** Why somebody gives up, for the other side; null: a broken invariant. */
export function reasonOf(error: unknown): CommandError | null {
  if (error instanceof CommandError) return error
  if (error instanceof StepFailedError) return new CommandError('OperationFailed', error.message)
  if (error instanceof RequestFailedError) return new CommandError('HostUnreachable', error.message)
  return null
}
