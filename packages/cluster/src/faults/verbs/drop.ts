import { affectLinks } from '../effects.js'
import { linkVerb } from '../fault-verb.js'

export const drop = linkVerb({
  verb: 'drop',
  phrase: 'drop[ {percent=5%}] {link=between mongos01 and shard02}',
  effect:
    'the connection breaks with the message, and requests without an answer fail; the connection of a client is reset',
  healing: '',
  schema: ({ link }) => link('drop', {}),
  begin: ({ runtime }, link, spec) => affectLinks(runtime, link, spec.link.bothWays, { type: 'drop' }, spec),
})
