import { affectStep } from '../effects.js'
import { stepVerb } from '../fault-verb.js'

export const hold = stepVerb({
  verb: 'hold',
  phrase: 'hold at {step=shard.migration.committing}[ on {target=shard01}]',
  effect: 'a member that reaches the step waits there',
  healing: 'the member continues',
  schema: ({ step }) => step('hold'),
  begin: (world, members, { step, first }) => affectStep(world, step, 'hold', members, first),
})
