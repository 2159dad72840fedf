import { affectStep } from '../effects.js'
import { stepVerb } from '../fault-verb.js'

export const crashAt = stepVerb({
  verb: 'crashAt',
  phrase: 'crash at {step=shard.migration.committing}[ on {target=shard01}]',
  effect: 'a member that reaches the step crashes',
  healing: 'the members that crashed start',
  schema: ({ step }) => step('crashAt'),
  begin: (world, members, { step, first }) => affectStep(world, step, 'crash', members, first),
})
