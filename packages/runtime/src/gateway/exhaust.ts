/**
 * Exhaust: a stream of answers to one request. Since 4.4, drivers that stream the state of a server
 * treat a single answer to their awaitable hello as a failure, and close the connections of their
 * pool. Server: service_entry_point (makeExhaustMessage), hello commands and getMore
 * (setNextInvocation).
 */
import type { ReplyOf } from '@shardlab/actor'
import { BsonType, DocumentWriter, FieldIterator, findField, firstFieldName, type RawValue } from '@shardlab/bson'
import type { CommandRequest } from '@shardlab/wire'

const helloNames = new Set(['hello', 'isMaster', 'ismaster'])

/**
 * The request to run after this answer, and whose answer responds to it; null: the answer is the
 * last one. After a batch of a cursor it is the same request. After a successful awaitable hello it
 * asks for changes since the topology version of the answer. Other commands have none.
 * @param answerId requestID of the answer
 */
export function followingRequest(
  request: CommandRequest,
  answer: ReplyOf<'client.command'>,
  answerId: number,
): CommandRequest | null {
  const { format, exhaustAllowed, moreToCome } = request
  if (!exhaustAllowed || moreToCome || format.legacy) return null
  const body = answer.again ? request.body : followingHello(request.body, answer.body)
  return body === null ? null : { ...request, body, format: { ...format, responseTo: answerId } }
}

function followingHello(body: Uint8Array, answer: Uint8Array): Uint8Array | null {
  if (!helloNames.has(firstFieldName(body) ?? '')) return null
  const version = findField(answer, 'topologyVersion')
  const isAwaitable =
    findField(body, 'maxAwaitTimeMS') !== undefined && findField(body, 'topologyVersion')?.type === BsonType.object
  if (version === undefined || !isAwaitable || findField(answer, 'ok')?.asNumber() !== 1) return null
  return withTopologyVersion(body, version)
}

function withTopologyVersion(body: Uint8Array, version: RawValue): Uint8Array {
  const next = new DocumentWriter(body.length)
  for (const it = new FieldIterator(body); it.next();)
    next.value(it.name(), it.name() === 'topologyVersion' ? version : it.value())
  return next.finish()
}
