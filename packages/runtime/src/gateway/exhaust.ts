/**
 * Exhaust: a stream of answers to one request. Since 4.4, drivers that stream the state of a server
 * treat a single answer to their awaitable hello as a failure, and close the connections of their
 * pool. Server: service_entry_point (makeExhaustMessage), hello commands (setNextInvocation).
 */
import { BsonType, DocumentWriter, FieldIterator, findField, firstFieldName } from '@shardlab/bson'
import type { CommandRequest } from '@shardlab/wire'

const helloNames = new Set(['hello', 'isMaster', 'ismaster'])

/**
 * The request to run after this answer; null: the answer is the last one. Only a successful
 * awaitable hello has one: it asks for changes since the topology version of the answer, and its
 * own answer responds to the answer before it.
 * @param answerId requestID of the answer
 */
export function followingRequest(request: CommandRequest, answer: Uint8Array, answerId: number): CommandRequest | null {
  const { body, format, exhaustAllowed, moreToCome } = request
  if (!exhaustAllowed || moreToCome || format.legacy || !helloNames.has(firstFieldName(body) ?? '')) return null
  const version = findField(answer, 'topologyVersion')
  if (
    version === undefined ||
    findField(body, 'maxAwaitTimeMS') === undefined ||
    findField(answer, 'ok')?.asNumber() !== 1
  )
    return null
  if (findField(body, 'topologyVersion')?.type !== BsonType.object) return null
  const next = new DocumentWriter(body.length)
  for (const it = new FieldIterator(body); it.next();)
    next.value(it.name(), it.name() === 'topologyVersion' ? version : it.value())
  return { ...request, body: next.finish(), format: { ...format, responseTo: answerId } }
}
