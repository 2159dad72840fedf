/** Ownership: at every version the chunks of a collection cover the key space exactly once. */
import type { ShardKeyPattern } from '@shardlab/sharding'
import { toExtendedJson } from '@shardlab/bson'
import { finding, type Finding } from '../finding.js'
import type { OwnedRange } from '../watch/catalog-table.js'

/** @param ranges in key order */
export function ownershipViolations(ns: string, pattern: ShardKeyPattern, ranges: readonly OwnedRange[]): Finding[] {
  if (ranges.length === 0) return [finding(`${ns} has no chunks`, ns)]
  const wrong: Finding[] = []
  for (const [i, { maxKey, max }] of ranges.entries()) {
    const next = ranges[i + 1]
    if (next !== undefined && maxKey !== next.minKey)
      wrong.push(
        finding(`${ns}: a chunk ends at ${toExtendedJson(max)}, the next begins at ${toExtendedJson(next.min)}`, ns),
      )
  }
  if (ranges[0]!.minKey !== pattern.globalMinKeyString || ranges.at(-1)!.maxKey !== pattern.globalMaxKeyString)
    wrong.push(finding(`${ns}: the chunks do not reach both ends`, ns))
  return wrong
}
