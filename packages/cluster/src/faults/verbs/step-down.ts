import { switchOn } from '../effects.js'
import { memberVerb } from '../fault-verb.js'

export const stepDown = memberVerb({
  verb: 'stepDown',
  phrase: 'step down {target=shard02}',
  effect: 'the member is a secondary, for 10 s unless `for` gives another time; its writes are killed',
  healing: 'the member can be elected again; the only member of a set is elected at once',
  roles: ['shard', 'config-server', 'mongod'],
  ofSet: 'primary',
  needs: 'running',
  endsWith: 'end of the process',
  lastsMs: 10_000,
  schema: ({ member }) => member('stepDown', {}),
  begin: (world, member, spec) => switchOn(world, member, spec, 'stepped-down'),
})
