import { downUntilHealed } from '../effects.js'
import { memberVerb } from '../fault-verb.js'

export const crash = memberVerb({
  verb: 'crash',
  phrase: 'crash {target=shard02}',
  effect: 'the member ends at once; acknowledged writes are on its disk',
  healing: 'the member starts with its disk, on its port',
  needs: 'running',
  silences: true,
  endsWith: 'start of the member',
  schema: ({ member }) => member('crash', {}),
  async begin(world, member) {
    await world.runtime.crash(member)
    return downUntilHealed(world, member)
  },
})
