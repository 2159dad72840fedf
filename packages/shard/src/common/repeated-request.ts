/** Idempotent requests between donors and recipients. */
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
export function repeatedRequest<K extends MessageKind>(
  context: ActorContext,
  member: string,
  kind: K,
  request: RequestOf<K>,
  repeated: RepeatedRequest,
): Promise<ReplyOf<K>> {
  const ask = () => context.request(member, kind, request, repeated)
  return ask().catch((error: unknown) => again(context, ask, repeated, error))
}

/** @param failure of the first attempt */
async function again<T>(
  context: ActorContext,
  ask: () => Promise<T>,
  { attemptsMax, signal }: RepeatedRequest,
  failure: unknown,
): Promise<T> {
  for (let [attempt, error] = [1, failure]; ; attempt++) {
    if (!(error instanceof RequestFailedError) || error.reason === 'cancelled' || attempt >= attemptsMax) throw error
    if (error.reason !== 'timed-out') await context.sleep(retryPauseMs, signal)
    try {
      return await ask()
    } catch (next) {
      error = next
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
