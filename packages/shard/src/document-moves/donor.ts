/**
 * The donor of a document move, which coordinates it.
 * Server: document_shard_key_update_util.cpp over a transaction of two shards.
 */
import { requestFailure, RequestFailedError, StepFailedError, type ReplyOf, type RequestOf } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField, sameBytes } from '@shardlab/bson'
import { raiseError } from '@shardlab/node'
import type { CollectionPlacement } from '@shardlab/sharding'
import type { DocumentMoveHost } from './document-move-host.js'
import { readSession, type MoveSession } from './move-session.js'
import { keyOf, recordConversion } from './prepared-inserts.js'

type MoveRequest = RequestOf<'shard.move-document'>

const prepareTimeoutMs = 15_000

/**
 * @throws CommandError 13388 StaleConfig; 366 when the router has to run the statement again; 225
 *   and 217 for the session; errors of the recipient
 */
export async function moveDocument(
  host: DocumentMoveHost,
  request: MoveRequest,
): Promise<ReplyOf<'shard.move-document'>> {
  const { clock } = host.node
  const { coordinator } = host.documentMoves
  clock.advance(request.clusterTime)
  const id = findField(request.after, '_id')!
  await coordinator.once(request.requestId, () =>
    coordinator.inTurn(`${request.ns} ${keyOf(id)}`, () => move(host, request)),
  )
  return { error: null, clusterTime: clock.time }
}

async function move(host: DocumentMoveHost, request: MoveRequest): Promise<void> {
  const { node, versions, documentMoves } = host
  const { ns, after, shardVersion, requestId } = request
  const session = readSession(request.session)
  const { ownership } = await versions.enter(ns, { shardVersion, databaseVersion: null })
  if (ownership === null) throw documentChanged()
  const { placement } = ownership
  const key = placement.shardKey.extract(after)
  if (typeof key === 'string') throw documentChanged()
  const recipient = placement.table.shardOf(key.keyString)
  if (recipient === node.context.address) throw documentChanged()
  checkStillThere(host, request, placement, session)
  const { coordinator } = documentMoves
  const attemptId = coordinator.begin()
  try {
    await node.context.reach('shard.document-move.begun', { ns, to: recipient })
    await prepare(host, request, placement, recipient, attemptId)
    await node.context.reach('shard.document-move.prepared', { ns, to: recipient })
    checkStillThere(host, request, placement, session)
  } catch (error) {
    coordinator.abort(attemptId, recipient)
    throw error
  }
  coordinator.decide(attemptId, requestId, recipient)
  if (request.before !== null) removeOld(host, ns, placement, request.before)
  recordConversion(node, ns, session)
  documentMoves.arm()
  await coordinator.commit(attemptId)
  try {
    await node.context.reach('shard.document-move.decided', { ns, to: recipient })
    await coordinator.finish(attemptId)
    await node.context.reach('shard.document-move.finished', { ns, to: recipient })
  } catch (error) {
    // The move is decided: after a failed step the timer completes it.
    if (!(error instanceof StepFailedError)) throw error
  }
}

/** @throws CommandError 366 when the document or the placement has changed; 225, 217 */
function checkStillThere(
  { node, placements, critical }: DocumentMoveHost,
  { ns, before }: MoveRequest,
  placement: CollectionPlacement,
  session: MoveSession,
): void {
  node.retries.begin(session.id.key, session.txnNumber, node.context.now())
  const collection = node.collection(ns)
  if (placements.collection(ns) !== placement || critical.blocking(ns) !== undefined) throw documentChanged()
  if (collection === undefined || !sameBytes(collection.uuid, placement.uuid)) throw documentChanged()
  if (before === null) return
  const stored = collection.findById(findField(before, '_id')!)?.document
  if (stored === undefined || !sameBytes(stored, before)) throw documentChanged()
}

async function prepare(
  { node, placements }: DocumentMoveHost,
  { ns, after, session }: MoveRequest,
  { uuid, table }: CollectionPlacement,
  recipient: string,
  attemptId: string,
): Promise<void> {
  try {
    const request = {
      attemptId,
      coordinator: node.context.address,
      ns,
      collectionUuid: uuid,
      document: after,
      shardVersion: table.versionOn(recipient),
      session,
    }
    const { error } = await node.context.request(recipient, 'shard.prepare-insert', request, {
      timeoutMs: prepareTimeoutMs,
    })
    raiseError(error)
  } catch (error) {
    if (error instanceof CommandError && error.code === 13388) {
      // The recipient has a newer version than this shard.
      await placements.refreshCollection(ns)
      throw documentChanged()
    }
    throw error instanceof RequestFailedError ? requestFailure(error) : error
  }
}

function removeOld(
  { node }: DocumentMoveHost,
  ns: string,
  { shardKey, uuid }: CollectionPlacement,
  before: Uint8Array,
): void {
  const id = findField(before, '_id')!
  const object = shardKey.documentKey(before) ?? new DocumentWriter(64).value('_id', id).finish()
  node.apply({ op: 'd', ns, uuid, object, id, session: null })
}

function documentChanged(): CommandError {
  return new CommandError(
    'WouldChangeOwningShardDeletedNoDocument',
    'When handling WouldChangeOwningShard error, the delete matched no documents and should not upsert',
  )
}

export function documentMoveOutcome(
  { documentMoves, node }: DocumentMoveHost,
  { attemptId }: RequestOf<'shard.document-move-outcome'>,
): ReplyOf<'shard.document-move-outcome'> {
  return { outcome: documentMoves.coordinator.outcomeOf(attemptId), clusterTime: node.clock.time }
}
