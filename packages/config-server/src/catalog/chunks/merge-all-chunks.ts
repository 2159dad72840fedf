/**
 * Server: sharding_catalog_manager_chunk_operations.cpp, commitMergeAllChunksOnShard. Manual:
 * reference/command/mergeAllChunksOnShard.
 */
import type { ReplyOf, RequestOf, TimestampPair } from '@shardlab/actor'
import { compareDocuments } from '@shardlab/bson'
import { latest, type StoredChunk } from './chunk-documents.js'
import { nextMinor, withVersion } from './chunk-operations.js'
import { emitMerge, noteMerge } from './merge-chunks.js'
import { historyWindowSeconds } from '../migrations/move-range.js'
import { openCollection } from './split-chunk.js'
import type { ChunkHost } from '../host.js'

/**
 * A merged chunk gets a new minor version, a new `_id`, and the latest `validAfter` of its parts.
 * @throws CommandError 117 ConflictingOperationInProgress: no such collection
 */
export async function commitMergeAllChunks(
  catalog: ChunkHost,
  { ns, shard, chunksMax }: RequestOf<'config.commit-merge-all-chunks'>,
): Promise<ReplyOf<'config.commit-merge-all-chunks'>> {
  const chunks = openCollection(catalog, ns)
  const oldest = catalog.node.clock.tick()[0] - historyWindowSeconds(catalog)
  const runs = runsOf(chunks.on(shard), oldest, chunksMax)
  if (runs.length === 0) return { chunksMerged: 0, error: null }
  let before = chunks.version
  for (const run of runs) {
    const first = run[0]!
    const after = nextMinor(before)
    for (const chunk of run) chunks.remove(chunk)
    const history = [{ validAfter: latest(run.flatMap(sinceOf)), shard }]
    const merged: StoredChunk = {
      ...first,
      id: chunks.newId(first.min),
      max: run.at(-1)!.max,
      estimatedSize: null,
      jumbo: null,
      history,
    }
    chunks.put(withVersion(merged, after), 'range-first')
    noteMerge(catalog, chunks, { merged: run, before, after })
    before = after
  }
  await catalog.node.flushToMajority()
  for (const run of runs) emitMerge(catalog, ns, run)
  return { chunksMerged: runs.reduce((sum, run) => sum + run.length, 0), error: null }
}

/**
 * Runs of neighbours that are not jumbo and have been on the shard longer than any readable
 * snapshot.
 */
function runsOf(chunks: readonly StoredChunk[], oldestSeconds: number, chunksMax: number | null): StoredChunk[][] {
  const runs: StoredChunk[][] = []
  let run: StoredChunk[] = []
  let merged = 0
  const close = () => {
    if (run.length > 1) {
      runs.push(run)
      merged += run.length
    }
    run = []
  }
  for (const chunk of chunks) {
    const [since] = sinceOf(chunk)
    if (chunk.jumbo === true || since === undefined || since[0] >= oldestSeconds) continue
    const last = run.at(-1)
    if (last !== undefined && compareDocuments(last.max, chunk.min) !== 0) close()
    run.push(chunk)
    if (merged + run.length === chunksMax) break
  }
  close()
  return runs
}

/** A list of one time; empty: unknown. */
function sinceOf({ history }: StoredChunk): TimestampPair[] {
  return history.slice(0, 1).map(({ validAfter }) => validAfter)
}
