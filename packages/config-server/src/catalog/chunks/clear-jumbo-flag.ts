/** Server: sharding_catalog_manager_chunk_operations.cpp, clearJumboFlag. */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { compareDocuments, CommandError } from '@shardlab/bson'
import { formatRange } from '@shardlab/sharding'
import { CollectionChunks, nextMajor, withVersion } from './chunk-operations.js'
import type { ChunkHost } from '../host.js'

/**
 * Gives the chunk the next major version, so that its shard refreshes. Does nothing without the
 * flag.
 * @throws CommandError 117 ConflictingOperationInProgress: no such collection; 51262: no such
 *   chunk; 150 StaleEpoch
 */
export async function clearJumboFlag(
  catalog: ChunkHost,
  { ns, epoch, min, max }: RequestOf<'config.clear-jumbo-flag'>,
): Promise<ReplyOf<'config.clear-jumbo-flag'>> {
  const chunks = CollectionChunks.open(catalog, ns)
  if (chunks === null) throw new CommandError('ConflictingOperationInProgress', 'Collection does not exist')
  const chunk = chunks.at(min)
  if (chunk === null || compareDocuments(chunk.max, max) !== 0)
    throw new CommandError(51262, `Unable to locate chunk ${formatRange(min, max)} from ns: ${ns}`)
  if (chunk.jumbo !== true) return { error: null }
  if (chunks.epoch !== epoch)
    throw new CommandError(
      'StaleEpoch',
      `The epoch of collection '${ns}' has changed since the migration began. The config server's collection placement version epoch is now '${chunks.epoch}', but the shard's is ${epoch}'. Aborting clear jumbo on chunk (${formatRange(min, max)}).`,
    )
  chunks.put(withVersion({ ...chunk, jumbo: null }, nextMajor(chunks.version)), 'range-first')
  await catalog.node.flushToMajority()
  return { error: null }
}
