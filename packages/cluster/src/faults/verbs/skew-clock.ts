import { affectMember } from '../effects.js'
import { memberVerb } from '../fault-verb.js'

export const skewClock = memberVerb({
  verb: 'skewClock',
  phrase: 'skew clock of {target=shard02} by {by=-2h}',
  effect: 'its clock differs; after a negative skew it stands still until the old time is reached again',
  healing: 'its clock is right; if that sets it back, it stands still in the same way',
  schema: ({ member, offset }) => member('skewClock', { by: offset }),
  begin: ({ runtime }, member, { by }) => affectMember(runtime, member, { type: 'clock-skew', skewMs: by }),
})
