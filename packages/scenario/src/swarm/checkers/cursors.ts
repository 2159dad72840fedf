/**
 * Cursors: a document that does not change while a cursor reads is returned exactly once, wherever
 * its range moves.
 */
import type { Document } from '@shardlab/bson'
import type { DifferenceKind, Model } from '../documents/model.js'
import type { CheckerName, Violation } from '../types.js'

const checkers: Readonly<Record<DifferenceKind, CheckerName>> = {
  missing: 'cursors',
  doubled: 'cursors',
  // Removed or changed documents may still be orphans.
  resurrected: 'orphans',
  changed: 'orphans',
}

/** @param unseen documents that may be moving to another shard */
export function scanViolations(
  model: Model,
  found: readonly Document[],
  where: string,
  unseen: ReadonlySet<number>,
): Violation[] {
  return model.differences(found, where, unseen).map(({ kind, ...found }) => ({ checker: checkers[kind], ...found }))
}
