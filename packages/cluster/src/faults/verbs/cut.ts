import { affectLinks } from '../effects.js'
import { linkVerb } from '../fault-verb.js'

export const cut = linkVerb({
  verb: 'cut',
  phrase: 'cut[ {percent=5%}] replies of {from=mongos01}[ to {to=clients}]',
  effect:
    'a client receives half a reply before its connection ends; between members as `drop`, but the request has been served',
  healing: '',
  silences: true,
  schema: ({ oneWayLink }) => oneWayLink('cut'),
  refusalOf: ({ fromClients }) => (fromClients ? 'clients send no replies; name a member' : null),
  begin: ({ runtime }, link, spec) => affectLinks(runtime, link, false, { type: 'cut' }, spec),
})
