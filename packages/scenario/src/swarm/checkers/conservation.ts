/**
 * Conservation: at the end each acknowledged write is there exactly once, and no removed document
 * is back. Unacknowledged writes may go either way.
 */
import type { Document } from '@shardlab/bson'
import type { Finding } from '../finding.js'
import type { DocumentsWorker } from '../documents/worker.js'

/** @param where read through a router, or from all shards */
export function conservationViolations(
  worker: DocumentsWorker,
  ns: string,
  documents: readonly Document[],
  where: string,
): Finding[] {
  const { model, group } = worker.knowledgeOf(ns)
  const own = documents.filter(({ owner }) => owner === worker.number)
  return [...model.differences(own, where), ...group.differences(documents, where)]
}
