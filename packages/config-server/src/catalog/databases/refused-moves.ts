/**
 * When the commit of a movePrimary was last refused because its new primary shard drains. The old
 * primary shard then drops the copies. A commit of the same move that arrives later, from a primary
 * that was replaced, must not succeed, even if the shard does not drain any more.
 */
import type { TimestampPair } from '@shardlab/actor'
import { compareValues, DocumentWriter, findField, timestampValue } from '@shardlab/bson'
import type { CatalogHost } from '../host.js'

/** Not in `config`: it has no counterpart on the server. */
const refusedNs = 'local.shardlabRefusedMoves'

/** The caller flushes the node. */
export function recordRefusal({ node, store }: CatalogHost, db: string): void {
  const [t, i] = node.clock.tick()
  store.put(refusedNs, new DocumentWriter(64).string('_id', db).timestamp('at', t, i).finish())
}

/** Commits for a dropped database are refused by its UUID. The caller flushes the node. */
export function forgetRefusal({ store }: CatalogHost, db: string): void {
  const refusal = store.get(refusedNs, db)
  if (refusal !== null) store.remove(refusedNs, refusal)
}

/** Whether a move of the database that was planned at that time may have been refused. */
export function wasRefusedSince({ store }: CatalogHost, db: string, plannedAt: TimestampPair): boolean {
  const refusal = store.get(refusedNs, db)
  return refusal !== null && compareValues(findField(refusal, 'at'), timestampValue(...plannedAt)) > 0
}
