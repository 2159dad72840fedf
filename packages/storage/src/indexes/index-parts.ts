import { compileCollation, compileFilter, type Filter } from '@shardlab/query'
import { StringLabels } from '../collation/string-labels.js'
import { KeyGenerator, type IndexKeyGenerator, type MultikeyPaths } from './index-keys.js'
import type { IndexSpec } from '../index-specs/index-spec.js'
import type { IndexUsage } from '../engine/types.js'
import { WildcardKeyGenerator } from '../wildcard/wildcard-keys.js'

/** Shared by an index and its clones. */
export interface IndexParts {
  readonly generator: IndexKeyGenerator
  readonly filter: Filter | null
  readonly labels: StringLabels | null
  readonly usage: IndexUsage
}

/** Filters of partial indexes depend neither on time nor on randomness. */
export const inertContext = { now: () => 0, random: (): number => 0 }

/** Stored in a checkpoint; the rest of an index is rebuilt from the documents. */
export interface RestoredIndex {
  readonly spec: Uint8Array
  readonly multikeyPaths: MultikeyPaths
  readonly arrayPaths: readonly string[]
}

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
