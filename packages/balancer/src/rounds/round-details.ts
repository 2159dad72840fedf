/** Documents of config.actionlog. Server: BalanceRoundDetails. */
import { DocumentWriter } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import type { RoundResult } from './round.js'

/** @param cached number of collections that were imbalanced in the latest rounds */
export function roundDetails(
  behaviours: Behaviours,
  durationMs: number,
  result: RoundResult,
  cached: number,
): Uint8Array {
  const { migrations, selectionMs, pauseMs, migrationMs } = result
  const writer = detailsBegin(behaviours, durationMs, false)
    .int32('candidateChunks', migrations.length)
    .int32('chunksMoved', processedIn(result))
  if (behaviours.balancerRoundsHaveTimings)
    writer
      .int32('imbalancedCachedCollections', cached)
      .startDocument('times')
      .int64('selectionTimeMillis', selectionMs)
      .int64('throttleTimeMillis', pauseMs)
      .int64('migrationTimeMillis', migrationMs)
      .end()
  return writer.finish()
}

export function failedRoundDetails(behaviours: Behaviours, durationMs: number, reason: string): Uint8Array {
  return detailsBegin(behaviours, durationMs, true).string('errmsg', reason).finish()
}

/** Counts the chunks that were moved, split or marked. */
export function processedIn({ migrations }: Pick<RoundResult, 'migrations'>): number {
  return migrations.filter(({ outcome }) => outcome !== 'failed' && outcome !== 'not-begun').length
}

function detailsBegin({ balancerRoundsHaveTimings }: Behaviours, durationMs: number, failed: boolean): DocumentWriter {
  return new DocumentWriter(256)
    .int32('executionTimeMillis', durationMs)
    .bool(balancerRoundsHaveTimings ? 'errorOccurred' : 'errorOccured', failed)
}
