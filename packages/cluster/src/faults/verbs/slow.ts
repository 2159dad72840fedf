import { affectLinks } from '../effects.js'
import { memberVerb } from '../fault-verb.js'

export const slow = memberVerb({
  verb: 'slow',
  phrase: 'slow {target=shard02} by {factor=10x}',
  effect: 'the member takes messages one after the other, each (factor - 1) ms later',
  healing: '',
  schema: ({ member, factor }) => member('slow', { factor }),
  begin: ({ runtime }, member, { factor }) =>
    affectLinks(runtime, { from: 'everybody', to: [member] }, false, { type: 'slow', perMessageMs: factor - 1 }),
})
