/**
 * What routers and shards ask for when they refresh: the entry of a collection, and its chunks as
 * far as they are new to them.
 */
import type { PlacementVersionTuple, ReplyOf, RequestOf } from '@shardlab/actor'
import { comparePlacement, leaveAnswer, sameGeneration } from '@shardlab/sharding'
import { generationOfCollection } from '../chunks/chunk-operations.js'
import type { ConfigHandlers, PlacementHost } from '../host.js'

export const placementHandlers: ConfigHandlers<'config.get-collection', PlacementHost> = {
  'config.get-collection': getCollection,
}

function getCollection(
  catalog: PlacementHost,
  { ns, since }: RequestOf<'config.get-collection'>,
): ReplyOf<'config.get-collection'> {
  const { clock, context } = catalog.node
  const { time } = clock
  const last = catalog.lastAnswer
  if (last?.time === time && last.ns === ns && since !== null && isSameVersion(last.since, since)) return last.reply
  const collection = catalog.collection(ns)
  if (collection === null) return { collection: null, chunks: [], full: true }
  const full = since === null || !sameGeneration(since, [...generationOfCollection(ns, collection), 0, 0])
  const chunks = catalog.newerChunkDocuments(collection, full ? null : since)
  if (full) return { collection, chunks: leaveAnswer(context, ns, since, { collection, chunks, full }), full }
  const reply = { collection, chunks, full }
  catalog.lastAnswer = { time, ns, since, reply }
  return reply
}

function isSameVersion(a: PlacementVersionTuple, b: PlacementVersionTuple): boolean {
  return sameGeneration(a, b) && comparePlacement(a, b) === 0
}
