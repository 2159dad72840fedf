/**
 * Invalidates open cursors when their collection or an index is dropped or renamed. Since 4.4 each
 * cursor checks its collection by UUID, and the indexes that it scans; earlier, every cursor on the
 * collection was invalidated. Server: requires_collection_stage.cpp; until 4.0
 * `CursorManager::invalidateAll`, `DatabaseImpl::renameCollection` (there a drop is a rename to a
 * drop-pending name).
 */
import { CommandError } from '@shardlab/bson'
import type { Collection } from '@shardlab/storage'
import { splitNamespace } from '@shardlab/member'
import type { NodeHost } from '../host/node-host.js'
import { viewOf } from '../views/view-catalog.js'
import type { OpenCursor } from './cursor-manager.js'
import type { SourceReads } from './source-reads.js'

export function invalidateCursorsOfDropped(node: NodeHost, collection: Collection): void {
  const { ns } = collection
  releaseCursorsOf(node, collection)
  const [db, name] = splitNamespace(ns)
  const [seconds, increment] = node.clock.time
  invalidateCursorsOn(node, ns, `renamed collection '${ns}' to '${db}.system.drop.${seconds}i${increment}t1.${name}'`)
}

/** For a collection that no longer exists. Until 4.0 its cursors are closed instead. */
export function releaseCursorsOf(node: NodeHost, collection: Collection): void {
  if (node.behaviours.cursorsFollowTheirCollection)
    node.cursors.releaseWhere((reads) => reads.isOf(collection), collection.dataSizeBytes)
}

/** For a rename within a database. */
export function invalidateCursorsOfRenamed(node: NodeHost, from: string, to: string): void {
  for (const ns of [from, to]) invalidateCursorsOn(node, ns, `renamed collection '${from}' to '${to}'`)
}

export function invalidateCursorsOfDroppedIndex(node: NodeHost, collection: Collection, name: string): void {
  const { cursorsFollowTheirCollection, getMoreReportsIndexDrop } = node.behaviours
  if (!cursorsFollowTheirCollection && !getMoreReportsIndexDrop) return invalidateCursorsOn(node, collection.ns, '')
  for (const reads of runningReads(node)) {
    if (!reads.isOf(collection)) continue
    if (!cursorsFollowTheirCollection) reads.kill(new CommandError('QueryPlanKilled', `index '${name}' dropped`))
    else if (reads.scans(name))
      reads.kill(new CommandError('QueryPlanKilled', `query plan killed :: index '${name}' dropped`))
  }
}

function invalidateCursorsOn(node: NodeHost, ns: string, reason: string): void {
  // Wakes waiting getMores: they look for the collection again and fail.
  node.insertWaiters.notify(ns)
  const { cursorsFollowTheirCollection, getMoreReportsIndexDrop } = node.behaviours
  if (cursorsFollowTheirCollection) return
  node.cursors.closeWhere(({ source }) => source.reads?.ns === ns && source.readsAhead !== true)
  const error = getMoreReportsIndexDrop
    ? new CommandError('QueryPlanKilled', reason)
    : new CommandError(16950, 'Cursor deleted. Was the collection or database dropped?')
  for (const reads of runningReads(node)) if (reads.ns === ns) reads.kill(error)
}

/** Of open cursors and of operations that have given up their turn. */
function* runningReads({ cursors }: NodeHost): Generator<SourceReads> {
  for (const { source } of cursors) if (source.reads !== undefined) yield source.reads
  yield* cursors.pausedReads.keys()
}

/**
 * Until 4.0 getMore looks up its collection before its cursor, unless the cursor itself checks its
 * collection.
 * @throws CommandError 96 OperationFailed; 17356 in 2.6
 */
export function checkCollectionOfCursor(node: NodeHost, ns: string, cursor: OpenCursor | undefined): void {
  const code = node.behaviours.getMoreWithoutCollectionCode
  if (code === null || ns.includes('.$cmd.') || node.readable(ns) !== undefined || viewOf(node, ns) !== null) return
  if (cursor === undefined || (cursor.source.reads !== undefined && cursor.source.readsAhead !== true))
    throw new CommandError(code, 'collection dropped between getMore calls')
}
