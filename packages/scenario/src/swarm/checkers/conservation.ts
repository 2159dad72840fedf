/**
 * Conservation: when all is over each acknowledged write is there exactly once, nothing comes back,
 * and of others nobody can tell.
 */
import type { Document } from '@shardlab/bson'
import type { DocumentsWorker } from '../documents/worker.js'

/**
 * What is wrong with a collection's documents, as a router or all shards together (`where`) give
 * them.
 */
export function conservationViolations(
  worker: DocumentsWorker,
  ns: string,
  documents: readonly Document[],
  where: string,
): string[] {
  const { model, herd } = worker.knowledgeOf(ns)
  const own = documents.filter(({ owner }) => owner === worker.number)
  return [...model.differences(own, where).map(({ sentence }) => sentence), ...herd.differences(documents, where)]
}
