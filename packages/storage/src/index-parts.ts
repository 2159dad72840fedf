/** What an index is made of beside its keys. */
import { compileCollation, compileFilter, type Filter } from '@shardlab/query'
import { StringLabels } from './collation/string-labels.js'
import { KeyGenerator, type IndexKeyMaker, type MultikeyPaths } from './index-keys.js'
import type { IndexSpec } from './index-spec.js'
import type { IndexUsage } from './types.js'
import { WildcardKeyGenerator } from './wildcard/wildcard-keys.js'

/** What an index shares with its clones. */
export interface IndexParts {
  readonly generator: IndexKeyMaker
  readonly filter: Filter | null
  /** Null without a collation. */
  readonly labels: StringLabels | null
  readonly usage: IndexUsage
}

/** Filters of partial indexes cannot ask for the time or for chance. */
export const inertContext = { nowMs: 0, random: (): number => 0 }

/** What an index brings back from a checkpoint: the rest is in the documents. */
export interface RestoredIndex {
  readonly spec: Uint8Array
  readonly multikeyPaths: MultikeyPaths
  readonly arrayPaths: readonly string[]
}

/** @param sinceMs from when on the index's uses are counted */
export function indexParts(
  { collation, partialFilter, wildcard, pattern, sparse }: IndexSpec,
  sinceMs: number,
): IndexParts {
  const strings = collation === null ? undefined : compileCollation(collation)?.compare
  const context = strings === undefined ? inertContext : { ...inertContext, strings }
  const labels = strings === undefined ? null : new StringLabels(strings)
  return {
    generator:
      wildcard === null ? new KeyGenerator(pattern, sparse, labels) : new WildcardKeyGenerator(wildcard, labels),
    filter: partialFilter === null ? null : compileFilter(partialFilter, context),
    labels,
    usage: { ops: 0, sinceMs },
  }
}
