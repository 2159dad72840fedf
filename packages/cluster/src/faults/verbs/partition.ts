import { affectLinks } from '../effects.js'
import { linkVerb } from '../fault-verb.js'

export const partition = linkVerb({
  verb: 'partition',
  phrase: 'partition {from=shard01}[ from {to=shard02}][ {oneWay=one way}]',
  effect: 'no message arrives, and no connection breaks; after `networkTimeoutMs` (10 s) both ends give up the link',
  healing: 'messages under way are delivered',
  schema: ({ link }) => link('partition', {}),
  begin: ({ runtime, networkTimeoutMs }, link, spec) =>
    affectLinks(runtime, link, spec.link.bothWays, { type: 'partition', silenceMs: networkTimeoutMs }, spec),
})
