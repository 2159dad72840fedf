import { affectLinks } from '../effects.js'
import { linkVerb } from '../fault-verb.js'

export const refuse = linkVerb({
  verb: 'refuse',
  phrase: 'refuse connections to {to=shard02}[ from {from=mongos01}]',
  shortcut: { phrase: 'config unavailable', data: { link: { from: 'everybody', to: 'config' } } },
  effect: 'requests fail at once, undelivered; new connections of clients are reset',
  healing: '',
  schema: ({ oneWayLink }) => oneWayLink('refuse'),
  refusalOf: ({ toClients }) => (toClients ? 'clients accept no connections; name a member' : null),
  begin: ({ runtime }, link, spec) => affectLinks(runtime, link, false, { type: 'refuse' }, spec),
})
