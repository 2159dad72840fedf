import { affectStep } from '../effects.js'
import { memberVerb } from '../fault-verb.js'

export const stallRangeDeleter = memberVerb({
  verb: 'stallRangeDeleter',
  phrase: 'stall range deleter of {target=shard02}',
  effect: 'orphans stay',
  healing: 'the orphans that are due are deleted',
  roles: ['shard'],
  schema: ({ member }) => member('stallRangeDeleter', {}),
  begin: (world, member) => affectStep(world, 'shard.range-deleter.started', 'hold', [member]),
})
