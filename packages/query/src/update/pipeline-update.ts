import { CommandError, type RawValue } from '@shardlab/bson'
import { compilePipeline } from '../aggregation/pipeline/pipeline.js'
import { expandStages } from '../aggregation/pipeline/steps.js'
import { withoutOptimization, type EvaluationContext } from '../context.js'

/**
 * @throws CommandError InvalidOptions (72) for a stage that is not allowed in an update, and the
 *   errors of stages
 */
export function compilePipelineUpdate(
  stages: readonly Uint8Array[],
  context: EvaluationContext,
  constants: ReadonlyMap<string, RawValue> | undefined,
): (document: Uint8Array) => Uint8Array {
  for (const { operator } of expandStages(stages)) {
    if (!operator.inUpdates)
      throw new CommandError('InvalidOptions', `${operator.name} is not allowed to be used within an update`)
  }
  const variables = constants === undefined ? context.variables : new Map([...(context.variables ?? []), ...constants])
  const pipeline = compilePipeline(stages, {
    ...withoutOptimization(context),
    ...(variables === undefined ? {} : { variables }),
  })
  return (document) => {
    const run = pipeline.open()
    run.push(document)
    run.end()
    return run.output[0]!
  }
}
