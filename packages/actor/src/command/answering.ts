import { CommandError, errorDocument } from '@shardlab/bson'
import { catalogue, type MessageKind, type ReplyOf } from '../catalogue/index.js'
import { RequestFailedError, StepFailedError } from '../contract/errors.js'
import { requestFailure } from './request-failure.js'

/**
 * Turns errors of the client, unreachable members and failed steps into the `error` field of the
 * reply, whose other fields are those of the example. Other errors are rethrown, and so are all
 * errors of a kind whose reply has no `error` field.
 */
export function answering<K extends MessageKind>(kind: K, work: () => Promise<ReplyOf<K>>): Promise<ReplyOf<K>>
export function answering<K extends MessageKind>(
  kind: K,
  work: () => Promise<ReplyOf<K>> | ReplyOf<K>,
): Promise<ReplyOf<K>> | ReplyOf<K>
export function answering<K extends MessageKind>(
  kind: K,
  work: () => Promise<ReplyOf<K>> | ReplyOf<K>,
): Promise<ReplyOf<K>> | ReplyOf<K> {
  try {
    const reply = work()
    // Most requests are answered at once; a promise would delay their replies.
    return reply instanceof Promise ? answeringLater(kind, reply) : reply
  } catch (thrown) {
    return refusalOf(kind, thrown)
  }
}

// Separate: a function that may make a closure allocates a context for its variables on each call,
// even when it makes none.
function answeringLater<K extends MessageKind>(kind: K, reply: Promise<ReplyOf<K>>): Promise<ReplyOf<K>> {
  return reply.catch((thrown: unknown) => refusalOf(kind, thrown))
}

/** @throws errors that are not reported to clients */
function refusalOf<K extends MessageKind>(kind: K, thrown: unknown): ReplyOf<K> {
  const { reply } = catalogue[kind].example
  const error = commandErrorOf(thrown)
  if (error === null || !('error' in reply)) throw thrown
  return { ...reply, error: errorDocument(error) } as ReplyOf<K>
}

function commandErrorOf(thrown: unknown): CommandError | null {
  if (thrown instanceof CommandError) return thrown
  if (thrown instanceof StepFailedError) return new CommandError('OperationFailed', thrown.message)
  return thrown instanceof RequestFailedError ? requestFailure(thrown) : null
}
