import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { compareDocuments } from '@shardlab/bson'
import { chunkDocumentOf } from './chunk-documents.js'
import { CollectionChunks } from './chunk-operations.js'
import { clearJumboFlag } from './clear-jumbo-flag.js'
import { commitMergeAllChunks } from './merge-all-chunks.js'
import { commitChunksMerge } from './merge-chunks.js'
import { commitChunkSplit } from './split-chunk.js'
import type { ChunkHost, ConfigHandlers } from '../host.js'

export const chunkHandlers: ConfigHandlers<
  | 'config.find-chunk'
  | 'config.commit-chunk-split'
  | 'config.commit-chunks-merge'
  | 'config.commit-merge-all-chunks'
  | 'config.clear-jumbo-flag',
  ChunkHost
> = {
  'config.find-chunk': findChunk,
  'config.commit-chunk-split': commitChunkSplit,
  'config.commit-chunks-merge': commitChunksMerge,
  'config.commit-merge-all-chunks': commitMergeAllChunks,
  'config.clear-jumbo-flag': clearJumboFlag,
}

function findChunk(catalog: ChunkHost, { ns, key }: RequestOf<'config.find-chunk'>): ReplyOf<'config.find-chunk'> {
  const chunks = CollectionChunks.open(catalog, ns)
  const chunk = chunks?.beginningAtOrBelow(key) ?? null
  if (chunks === null || chunk === null || compareDocuments(key, chunk.max) >= 0) return { chunk: null }
  return { chunk: chunkDocumentOf(catalog.behaviours, chunks.owner, chunk) }
}
