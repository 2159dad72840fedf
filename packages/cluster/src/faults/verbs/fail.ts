import { affectStep } from '../effects.js'
import { stepVerb } from '../fault-verb.js'

export const fail = stepVerb({
  verb: 'fail',
  phrase: 'fail at {step=shard.migration.committing}[ on {target=shard01}]',
  effect: 'the operation of a member that reaches the step fails',
  healing: '',
  schema: ({ step }) => step('fail'),
  begin: (world, members, { step, first }) => affectStep(world, step, 'fail', members, first),
})
