/**
 * The state is in `defragmentCollection` and `defragmentationPhase` of config.collections, and in
 * `estimatedDataSizeBytes` of config.chunks. Server: balancer_defragmentation_policy.cpp,
 * setChunkEstimatedSize.
 */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { CommandError, compareDocuments, findField, hexOf, int64Value, stringValue } from '@shardlab/bson'
import { CollectionChunks } from '../chunks/chunk-operations.js'
import { withFields } from '../store/document-changes.js'
import type { ChunkHost, ConfigHandlers } from '../host.js'

export const defragmentationHandlers: ConfigHandlers<
  'config.set-defragmentation-phase' | 'config.set-chunk-size-estimate',
  ChunkHost
> = {
  'config.set-defragmentation-phase': setPhase,
  'config.set-chunk-size-estimate': setEstimate,
}

const finished = 'finished'
/** The largest int64 marks a chunk that is not small. */
const large = 0x7fff_ffff_ffff_ffffn

async function setPhase(
  catalog: ChunkHost,
  { ns, uuid, from, to }: RequestOf<'config.set-defragmentation-phase'>,
): Promise<ReplyOf<'config.set-defragmentation-phase'>> {
  const collection = catalog.collection(ns)
  if (
    collection === null ||
    !isCollection(collection, uuid) ||
    findField(collection, 'defragmentCollection')?.isTruthy() !== true
  )
    return { phase: null, error: null }
  const phase = phaseOf(collection)
  if (phase !== from) return { phase, error: null }
  if (to === finished) forget(catalog, ns, collection)
  else catalog.store.put('config.collections', withFields(collection, { defragmentationPhase: stringValue(to) }))
  await catalog.node.flushToMajority()
  return { phase: to === finished ? null : to, error: null }
}

function forget(catalog: ChunkHost, ns: string, collection: Uint8Array): void {
  const { store } = catalog
  for (const chunk of catalog.chunks(collection))
    if (findField(chunk, 'estimatedDataSizeBytes') !== undefined)
      store.put('config.chunks', withFields(chunk, { estimatedDataSizeBytes: null }))
  store.put(
    'config.collections',
    withFields(catalog.collection(ns)!, { defragmentCollection: null, defragmentationPhase: null }),
  )
}

/** @throws CommandError 47 NoMatchingDocument: the shard no longer has such a chunk */
async function setEstimate(
  catalog: ChunkHost,
  { ns, uuid, shard, min, max, sizeBytes }: RequestOf<'config.set-chunk-size-estimate'>,
): Promise<ReplyOf<'config.set-chunk-size-estimate'>> {
  const chunks = CollectionChunks.open(catalog, ns)
  const chunk = chunks !== null && isCollection(chunks.document, uuid) ? chunks.at(min) : null
  if (chunks === null || chunk === null || chunk.shard !== shard || compareDocuments(chunk.max, max) !== 0)
    throw new CommandError('NoMatchingDocument', `Chunk of ${ns} not found while setting its size`)
  const { store } = catalog
  const estimate = int64Value(sizeBytes === null ? large : BigInt(sizeBytes))
  store.put(
    'config.chunks',
    withFields(store.getById('config.chunks', chunk.id)!, { estimatedDataSizeBytes: estimate }),
  )
  await catalog.node.flushToMajority()
  return { error: null }
}

/**
 * For a client: the balancer removes the rest of the state. The caller flushes the node. Server:
 * abortCollectionDefragmentation.
 * @throws CommandError 26 NamespaceNotFound
 */
export function endDefragmentation(catalog: ChunkHost, ns: string): void {
  const collection = catalog.collection(ns)
  if (collection === null) throw new CommandError('NamespaceNotFound', `collection ${ns} not found`)
  if (findField(collection, 'defragmentCollection')?.isTruthy() !== true) return
  const phase = catalog.behaviours.abortedDefragmentationsAreFinished ? finished : 'splitChunks'
  catalog.store.put('config.collections', withFields(collection, { defragmentationPhase: stringValue(phase) }))
}

function phaseOf(collection: Uint8Array): string | null {
  return findField(collection, 'defragmentationPhase')?.asString() ?? null
}

function isCollection(collection: Uint8Array, uuid: Uint8Array): boolean {
  return hexOf(findField(collection, 'uuid')!.asBinary()) === hexOf(uuid)
}
