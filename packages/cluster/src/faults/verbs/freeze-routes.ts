import { switchOn } from '../effects.js'
import { memberVerb } from '../fault-verb.js'

export const freezeRoutes = memberVerb({
  verb: 'freezeRoutes',
  phrase: 'freeze routes of {target=mongos01}',
  effect: 'the router keeps its placements, even those that shards refuse as stale',
  healing: '',
  roles: ['mongos'],
  needs: 'running',
  endsWith: 'end of the process',
  schema: ({ member }) => member('freezeRoutes', {}),
  begin: (world, member, spec) => switchOn(world, member, spec, 'frozen-routes'),
})
