/**
 * Cursors: a document that lies still while a cursor reads is in its batches exactly once, wherever
 * its range goes meanwhile.
 */
import type { Document } from '@shardlab/bson'
import type { DifferenceKind, Model } from '../documents/model.js'
import type { CheckerName, Violation } from '../types.js'

const checkers: Readonly<Record<DifferenceKind, CheckerName>> = {
  missing: 'cursors',
  doubled: 'cursors',
  // What is gone or has become another may still lie on a shard that does not own it.
  resurrected: 'orphans',
  changed: 'orphans',
}

/**
 * What is wrong with all documents of one client that its cursor gave. `unseen`: documents that may
 * be on their way to another shard.
 */
export function scanViolations(
  model: Model,
  found: readonly Document[],
  where: string,
  unseen: ReadonlySet<number>,
): Violation[] {
  return model.differences(found, where, unseen).map(({ kind, sentence }) => ({ checker: checkers[kind], sentence }))
}
