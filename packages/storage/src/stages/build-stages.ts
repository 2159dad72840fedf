import type { IndexEntry, PlanStage } from '../plans/plan-stage.js'
import type { QueryPlan } from '../plans/query-plan.js'
import { isFetched, stagesOf } from '../plans/plan-stage.js'
import {
  CountStage,
  FetchStage,
  LimitStage,
  OrStage,
  ProjectionStage,
  ReturnKeyStage,
  ShardFilterStage,
  SkipStage,
} from './flow-stages.js'
import { CountScanStage, DistinctScanStage, IndexScanStage } from './index-stages.js'
import { CollectionScanStage, EofStage, IdHackStage } from './record-stages.js'
import { MergeSortStage, SortStage } from './sort-stages.js'
import type { Stage } from './stage.js'

export interface BuildOptions {
  readonly sortMemoryBytes: number
  readonly allowDiskUse: boolean
  /**
   * Applied below all stages that order, count or cut rows, and invisible in explain; null: no
   * filter.
   */
  readonly rowFilter: ((document: Uint8Array) => boolean) | null
}

export function buildStages(
  { collection, strings }: Pick<QueryPlan, 'collection' | 'strings'>,
  root: PlanStage,
  options: BuildOptions,
): Stage {
  const withKeys = returnsKeys(root)
  const { sortMemoryBytes: memoryBytes, allowDiskUse } = options
  let { rowFilter } = options
  return build(root)

  function build(plan: PlanStage): Stage {
    // Filter above the topmost stage that only finds rows.
    if (rowFilter !== null && findsRows(plan)) {
      const owns = rowFilter
      rowFilter = null
      return new ShardFilterStage(plan, owns, build(plan))
    }
    switch (plan.stage) {
      case 'EOF':
        return new EofStage(plan)
      case 'COLLSCAN':
        return new CollectionScanStage(plan, collection)
      case 'IDHACK':
        return new IdHackStage(plan, collection, withKeys)
      case 'IXSCAN':
        return new IndexScanStage(plan, collection, withKeys)
      case 'COUNT_SCAN':
        return new CountScanStage(plan, collection)
      case 'DISTINCT_SCAN':
        if (options.rowFilter !== null) throw new Error('a DISTINCT_SCAN supports no row filter')
        return new DistinctScanStage(plan, collection)
      case 'FETCH':
        return new FetchStage(plan, collection, build(plan.input))
      case 'OR':
        return new OrStage(plan, plan.inputs.map(build))
      case 'SORT_MERGE':
        return new MergeSortStage(plan, strings, plan.inputs.map(build))
      case 'SHARDING_FILTER':
        return new ShardFilterStage(plan, (document) => plan.shardFilter.owns(document), build(plan.input))
      case 'SORT':
        return new SortStage(plan, strings, { memoryBytes, allowDiskUse }, build(plan.input))
      case 'SKIP':
        return new SkipStage(plan, build(plan.input))
      case 'LIMIT':
        return new LimitStage(plan, build(plan.input))
      case 'RETURN_KEY':
        return new ReturnKeyStage(plan, build(plan.input))
      case 'COUNT':
        return new CountStage(plan, null, [build(plan.input)])
      case 'RECORD_STORE_FAST_COUNT':
        return new CountStage(plan, collection, [])
      default:
        return new ProjectionStage(
          plan,
          plan.projection,
          isFetched(plan.input) ? null : entryBelow(plan.input),
          build(plan.input),
        )
    }
  }
}

function returnsKeys(root: PlanStage): boolean {
  return root.stage === 'RETURN_KEY' || (root.stage === 'LIMIT' && root.input.stage === 'RETURN_KEY')
}

function findsRows({ stage }: PlanStage): boolean {
  return (
    !['SORT', 'SKIP', 'LIMIT', 'RETURN_KEY', 'COUNT', 'RECORD_STORE_FAST_COUNT', 'DISTINCT_SCAN'].includes(stage) &&
    !stage.startsWith('PROJECTION')
  )
}

/**
 * The index whose keys a covered projection uses. Null below a DISTINCT_SCAN, whose rows are
 * documents.
 */
function entryBelow(plan: PlanStage): IndexEntry | null {
  for (const stage of stagesOf(plan)) if (stage.stage === 'IXSCAN') return stage.scan.entry
  return null
}
