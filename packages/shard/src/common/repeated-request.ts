import {
  requestFailure,
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
  /** Per attempt. */
  readonly timeoutMs: number
  readonly attemptsMax: number
  readonly signal?: CancelSignal
}

/** Gives broken connections time to be restored. */
const retryPauseMs = 50

/**
 * Repeats an idempotent request until it is answered or its receiver stays down.
 * @throws RequestFailedError of the last attempt
 */
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

async function again<T>(
  context: ActorContext,
  ask: () => Promise<T>,
  { attemptsMax, signal }: RepeatedRequest,
  failure: unknown,
): Promise<T> {
  for (let [attempt, error] = [1, failure]; ; attempt++) {
    if (!(error instanceof RequestFailedError) || error.reason === 'cancelled' || attempt >= attemptsMax) throw error
    // The member has been searched for.
    if (error.undelivered) throw error
    if (error.reason !== 'timed-out') await context.sleep(retryPauseMs, signal)
    try {
      return await ask()
    } catch (next) {
      error = next
    }
  }
}

/** The error to report to the other member; null: a broken invariant. */
export function reasonOf(error: unknown): CommandError | null {
  if (error instanceof CommandError) return error
  if (error instanceof StepFailedError) return new CommandError('OperationFailed', error.message)
  if (error instanceof RequestFailedError) return requestFailure(error)
  return null
}
