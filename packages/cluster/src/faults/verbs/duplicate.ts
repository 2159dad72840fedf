import { repeatedKinds } from '@shardlab/actor'
import { affectLinks } from '../effects.js'
import { linkVerb } from '../fault-verb.js'

export const duplicate = linkVerb({
  verb: 'duplicate',
  phrase: 'duplicate[ {percent=5%}] {link=between shard01 and shard02}',
  effect:
    'a request between members is served twice at the same time, and the first answer is lost; only requests that their senders repeat without an answer, because no connection delivers a message twice',
  healing: '',
  schema: ({ link, kindsAmong }) => link('duplicate', { kinds: kindsAmong(repeatedKinds).optional() }),
  refusalOf: ({ fromClients, toClients }) =>
    fromClients || toClients ? 'messages of clients cannot be duplicated; name members' : null,
  begin: ({ runtime }, link, spec) => affectLinks(runtime, link, spec.link.bothWays, { type: 'duplicate' }, spec),
})
