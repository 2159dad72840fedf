import { affectMember } from '../effects.js'
import { memberVerb } from '../fault-verb.js'

export const jumpClock = memberVerb({
  verb: 'jumpClock',
  phrase: 'jump clock of {target=shard02} by {by=-2h}',
  effect: 'the clock of the member is set forward, as by an administrator; a negative jump sets it back',
  healing: 'the clock jumps the other way',
  schema: ({ member, offset }) => member('jumpClock', { by: offset }),
  begin: ({ runtime }, member, { by }) => affectMember(runtime, member, { type: 'clock-jump', jumpMs: by }),
})
