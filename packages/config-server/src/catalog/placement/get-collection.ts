import type { PlacementVersionTuple, ReplyOf, RequestOf } from '@shardlab/actor'
import { sameGeneration } from '@shardlab/sharding'
import { generationOfCollection } from '../chunks/chunk-operations.js'
import type { ConfigHandlers, PlacementHost } from '../host.js'

export const placementHandlers: ConfigHandlers<'config.get-collection' | 'config.get-chunks', PlacementHost> = {
  'config.get-collection': getCollection,
  'config.get-chunks': getChunks,
}

function getCollection(
  catalog: PlacementHost,
  { ns, since }: RequestOf<'config.get-collection'>,
): ReplyOf<'config.get-collection'> {
  const collection = catalog.collection(ns)
  if (collection === null) {
    catalog.placements.forget(ns)
    return { collection: null, chunks: [], full: true }
  }
  const known = ofSameGeneration(ns, collection, since)
  const chunks = catalog.node.context.attach(
    () => catalog.placements.update(ns, collection, known),
    () => catalog.newerChunkDocuments(collection, known),
  )
  return { collection, chunks, full: known === null }
}

function getChunks(
  catalog: PlacementHost,
  { ns, since, limit }: RequestOf<'config.get-chunks'>,
): ReplyOf<'config.get-chunks'> {
  const collection = catalog.collection(ns)
  if (collection === null) return { collection: null, chunks: [], full: true }
  const known = ofSameGeneration(ns, collection, since)
  return { collection, chunks: catalog.newerChunkDocuments(collection, known, limit), full: known === null }
}

/** Null: `since` is of another generation, so all chunks are new. */
function ofSameGeneration(
  ns: string,
  collection: Uint8Array,
  since: PlacementVersionTuple | null,
): PlacementVersionTuple | null {
  if (since === null) return null
  return sameGeneration(since, [...generationOfCollection(ns, collection), 0, 0]) ? since : null
}
