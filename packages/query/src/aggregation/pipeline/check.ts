/** Server: `Pipeline::validateCommon`, `validateTopLevelPipeline`, `StageConstraints`. */
import { CommandError } from '@shardlab/bson'
import type { PipelineStep } from './steps.js'
import type { PipelineKind } from '../stages/stage.js'

/** `none`: `{aggregate: 1}`. */
export type PipelineTarget = 'collection' | 'none'

/** Server: `internalPipelineLengthLimit`. */
const maxStages = 1000

/**
 * @throws CommandError 9 FailedToParse, 20 IllegalOperation, 73 InvalidNamespace, 40600, 51047,
 *   31441, 40602, 40601, 7182802
 */
export function checkPipeline(steps: readonly PipelineStep[], kind: PipelineKind | PipelineTarget | 'unchecked'): void {
  if (kind === 'collection' || kind === 'none') checkTarget(steps, kind)
  else if (kind !== 'unchecked') checkInner(steps, kind)
  if (steps.length > maxStages)
    throw new CommandError('FailedToParse', `Pipeline length must be no longer than ${maxStages} stages`)
  steps.forEach(({ operator: { name, position, inStreams } }, index) => {
    if (inStreams === true) checkInStream(steps, index)
    if (position === 'first' && index > 0)
      throw new CommandError(40602, `${name} is only valid as the first stage in a pipeline`)
    if (position === 'last' && index < steps.length - 1)
      throw new CommandError(40601, `${name} can only be the final stage in the pipeline`)
  })
}

function checkInStream(steps: readonly PipelineStep[], index: number): void {
  const { name } = steps[index]!.operator
  if (steps[0]!.operator.name !== '$changeStream')
    throw new CommandError('IllegalOperation', `${name} can only be used in a $changeStream pipeline`)
  if (index < steps.length - 1) throw new CommandError(7182802, `${name} must be the last stage in the pipeline`)
}

function checkTarget(steps: readonly PipelineStep[], target: PipelineTarget): void {
  const first = steps[0]?.operator
  const source = first?.source
  if (target === 'collection') {
    if (source?.collection === 'none')
      throw new CommandError('InvalidNamespace', `'${first!.name}' can only be run with {aggregate: 1}`)
    return
  }
  if (first === undefined)
    throw new CommandError('InvalidNamespace', '{aggregate: 1} is not valid for an empty pipeline.')
  if (source === undefined || source.collection === 'required')
    throw new CommandError(
      'InvalidNamespace',
      `{aggregate: 1} is not valid for '${first.name}'; a collection is required.`,
    )
}

function checkInner(steps: readonly PipelineStep[], kind: PipelineKind): void {
  for (const { operator } of steps) {
    // The pipeline of a $merge is that of an update.
    const refused = kind === 'merge' ? operator.inUpdates !== true : operator.notIn?.includes(kind) === true
    if (refused) throw notInside(operator.name, kind)
  }
}

function notInside(stage: string, kind: PipelineKind): CommandError {
  switch (kind) {
    case 'facet':
      return new CommandError(40600, `${stage} is not allowed to be used within a $facet stage`)
    case 'lookup':
      return new CommandError(51047, `${stage} is not allowed within a $lookup's sub-pipeline`)
    case 'unionWith':
      return new CommandError(31441, `${stage} is not allowed within a $unionWith's sub-pipeline`)
    case 'merge':
      return new CommandError('InvalidOptions', `${stage} is not allowed to be used within an update`)
  }
}
