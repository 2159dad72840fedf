/** These decide which member merges a pipeline. Server: `StageConstraints`. */
import type { EvaluationContext } from '../../context.js'
import { expandStages, type PipelineStep } from './steps.js'
import type { ForeignCollection } from '../stages/stage.js'

export interface MergeRequirement {
  readonly stage: string
  /** The stage, or a pipeline inside it, may write to the disk if that is allowed. */
  readonly spills: boolean
  readonly foreign: readonly ForeignCollection[]
}

/** One entry for each stage, in their order; a `$facet` has one for each stage inside it. */
export function mergeRequirements(
  stages: readonly Uint8Array[],
  context: Pick<EvaluationContext, 'language' | 'strings'> = {},
): MergeRequirement[] {
  const needsOf = ({ operator, argument }: PipelineStep): MergeRequirement[] => {
    const nested = operator.nested?.(argument)
    if (nested !== undefined) return nested.flatMap((inner) => mergeRequirements(inner, context))
    const foreign = operator.foreign?.(argument) ?? []
    const spills =
      operator.spills?.(argument) === true ||
      foreign.some((each) => mergeRequirements(each.stages, context).some((need) => need.spills))
    return [{ stage: operator.name, spills, foreign }]
  }
  return expandStages(stages, context).flatMap(needsOf)
}
