import { keptLiterals, serializeFilter, type FilterNode } from '@shardlab/query'
import { normalized } from '../planner/normalize.js'

/** A predicate as explain prints it in `parsedQuery` and in the `filter` of a stage. */
export function describeFilter(root: FilterNode): Uint8Array {
  return serializeFilter(normalized(root), keptLiterals)
}
