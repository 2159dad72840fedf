import type { EvaluationContext } from '@shardlab/query'
import type { NodeHost } from './node-host.js'

/** Clock and randomness of the node, and the language of its version. */
export function evaluationOf({ behaviours, context, newObjectId, options }: NodeHost): EvaluationContext {
  const { random } = context
  const { language, undefinedMatchesNull, dollarFieldsCanBeStored } = behaviours
  const nowMs = context.now()
  return {
    now: () => nowMs,
    random: () => random.fraction(),
    newObjectId,
    language,
    strict: options.strict ?? false,
    undefinedMatchesNull,
    dollarFieldsCanBeStored,
  }
}
