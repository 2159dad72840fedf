/** Errors of requests between members that stand for commands of clients. */
import { CommandError, errorDocument } from '@shardlab/bson'
import { catalogue, type MessageKind, type ReplyOf } from '../catalogue/index.js'
import { RequestFailedError, StepFailedError } from '../contract/errors.js'

/**
 * Turns what a client did wrong, peers that cannot be reached, and steps that a fault made fail into the `error` field of the reply; its
 * other fields are then those of the example. Errors of requests whose reply has no such field are thrown on.
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
    // Most requests are answered at once, and then nobody has to wait.
    return reply instanceof Promise ? answeringLater(kind, reply) : reply
  } catch (thrown) {
    return refusalOf(kind, thrown)
  }
}

// Apart: what a closure uses has a place of its own in memory, also where the closure is never made.
function answeringLater<K extends MessageKind>(kind: K, reply: Promise<ReplyOf<K>>): Promise<ReplyOf<K>> {
  return reply.catch((thrown: unknown) => refusalOf(kind, thrown))
}

/** @throws what no client is told of */
function refusalOf<K extends MessageKind>(kind: K, thrown: unknown): ReplyOf<K> {
  const { reply } = catalogue[kind].example
  const error = commandErrorOf(thrown)
  if (error === null || !('error' in reply)) throw thrown
  return { ...reply, error: errorDocument(error) } as ReplyOf<K>
}

function commandErrorOf(thrown: unknown): CommandError | null {
  if (thrown instanceof CommandError) return thrown
  if (thrown instanceof StepFailedError) return new CommandError('OperationFailed', thrown.message)
  if (thrown instanceof RequestFailedError) {
    return new CommandError(
      'FailedToSatisfyReadPreference',
      `Could not find host matching read preference { mode: "primary" } for set ${thrown.to}`,
    )
  }
  return null
}
