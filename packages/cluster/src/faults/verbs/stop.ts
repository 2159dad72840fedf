import { downUntilHealed } from '../effects.js'
import { memberVerb } from '../fault-verb.js'

export const stop = memberVerb({
  verb: 'stop',
  phrase: 'stop {target=shard02}',
  effect: 'the member ends in order',
  healing: 'the member starts',
  silences: true,
  needs: 'running',
  endsWith: 'start of the member',
  schema: ({ member }) => member('stop', {}),
  async begin(world, member) {
    // A frozen member cannot end in order.
    await world.resume(member)
    await world.runtime.background.halt(member)
    return downUntilHealed(world, member)
  },
})
