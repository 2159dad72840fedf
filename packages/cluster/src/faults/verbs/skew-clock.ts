import { affectMember } from '../effects.js'
import { memberVerb } from '../fault-verb.js'

export const skewClock = memberVerb({
  verb: 'skewClock',
  phrase: 'skew clock of {target=shard02} by {by=-2h}',
  effect:
    'the clock of the member differs by this time; after a negative skew the clock stops until it reaches the old time',
  healing: 'the clock is right again; if healing sets it back, it stops in the same way',
  schema: ({ member, offset }) => member('skewClock', { by: offset }),
  begin: ({ runtime }, member, { by }) => affectMember(runtime, member, { type: 'clock-skew', skewMs: by }),
})
