/**
 * Splits a pipeline into the part that every shard runs and the part that merges their results.
 * Server: `sharded_agg_helpers`, `Pipeline::splitForSharded`.
 */
import { DocumentWriter, findField, firstFieldName } from '@shardlab/bson'
import { countArgument } from '../stages/order.js'
import { splitGroup } from '../stages/groups/group.js'
import { expandStages, isJoin, type PipelineStep } from './steps.js'

export interface SplitPipeline {
  readonly shardsPart: Uint8Array[]
  readonly mergerPart: Uint8Array[]
  /** Each shard's results have this order, and the merger keeps it; null: any order. */
  readonly mergeSort: Uint8Array | null
}

/** When `mergerPart` is empty and `mergeSort` null, no merge is needed. */
export function splitPipeline(stages: readonly Uint8Array[]): SplitPipeline {
  const steps = expandStages(stages)
  const at = steps.findIndex((step) => step.operator.sharded !== 'shards')
  if (at < 0) return { shardsPart: steps.map((step) => step.stage), mergerPart: [], mergeSort: null }
  const shardsPart = steps.slice(0, at).map((step) => step.stage)
  const split = steps[at]!
  const rest = steps.slice(at + 1)
  const merge = (mergerPart: Uint8Array[], mergeSort: Uint8Array | null = null): SplitPipeline => ({
    shardsPart,
    mergerPart,
    mergeSort,
  })
  const stagesOf = (list: readonly PipelineStep[]) => list.map((step) => step.stage)
  switch (split.operator.sharded) {
    case 'group': {
      const halves = splitGroup(split.stage)
      shardsPart.push(halves.shards)
      return merge([halves.merger, ...stagesOf(rest)])
    }
    case 'sort': {
      shardsPart.push(split.stage)
      pushLimit(shardsPart, rest)
      return merge(stagesOf(rest), findField(split.stage, '$sort')!.slice())
    }
    case 'limit':
    case 'skip': {
      const tail = [split, ...rest]
      pushLimit(shardsPart, tail)
      return merge(stagesOf(tail))
    }
    default: {
      const tail = stagesOf([split, ...rest])
      // Unwinding on the shards would only increase the data that they send.
      if (shardsPart.length > 0 && firstFieldName(shardsPart.at(-1)!) === '$unwind') tail.unshift(shardsPart.pop()!)
      return merge(tail)
    }
  }
}

/**
 * For a pipeline that one shard can answer up to its first join. The member that can read the other
 * collections runs `mergerPart`; empty: there is no join.
 */
export function splitBeforeJoins(stages: readonly Uint8Array[]): SplitPipeline {
  const steps = expandStages(stages)
  const join = steps.findIndex(isJoin)
  const at = join < 0 ? steps.length : join
  const stagesOf = (list: readonly PipelineStep[]) => list.map((step) => step.stage)
  return { shardsPart: stagesOf(steps.slice(0, at)), mergerPart: stagesOf(steps.slice(at)), mergeSort: null }
}

/** Each shard sends at most the limit of the merging part plus the documents that it skips. */
function pushLimit(shardsPart: Uint8Array[], rest: readonly PipelineStep[]): void {
  let skipped = 0
  for (const { operator, argument } of rest) {
    if (operator.name === '$skip') skipped += countArgument('$skip', argument)
    else {
      if (operator.name === '$limit')
        shardsPart.push(new DocumentWriter().int64('$limit', skipped + countArgument('$limit', argument)).finish())
      return
    }
  }
}
