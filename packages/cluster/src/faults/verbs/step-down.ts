import { switchOn } from '../effects.js'
import { memberVerb } from '../fault-verb.js'

export const stepDown = memberVerb({
  verb: 'stepDown',
  phrase: 'step down {target=shard02}',
  effect: 'the member is a secondary, for 10 s unless `for` gives another time; its writes are killed',
  healing: 'it wins the election of the next term',
  roles: ['shard', 'config-server'],
  needs: 'running',
  endsWith: 'end of the process',
  lastsMs: 10_000,
  schema: ({ member }) => member('stepDown', {}),
  begin: (world, member) => switchOn(world, member, 'stepDown', 'stepped-down'),
})
