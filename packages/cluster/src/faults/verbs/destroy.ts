import { downUntilHealed } from '../effects.js'
import { memberVerb } from '../fault-verb.js'

export const destroy = memberVerb({
  verb: 'destroy',
  phrase: 'destroy {target=shard02}',
  effect: 'the member crashes, and its disk is lost',
  healing: 'the member starts with an empty disk',
  silences: true,
  needs: 'running',
  endsWith: 'start of the member',
  schema: ({ member }) => member('destroy', {}),
  async begin(world, member) {
    await world.runtime.crash(member)
    await world.runtime.replaceDisk(member)
    return downUntilHealed(world, member)
  },
})
