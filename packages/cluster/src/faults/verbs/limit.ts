import { affectLinks } from '../effects.js'
import { linkVerb } from '../fault-verb.js'

export const limit = linkVerb({
  verb: 'limit',
  phrase: 'limit {link=between mongos01 and shard02} to {rate=10MB/s}',
  effect: 'each direction of each link has this bandwidth; a message arrives with its last byte',
  healing: 'messages under way keep their time of arrival',
  schema: ({ link, rate }) => link('limit', { to: rate }),
  begin: ({ runtime }, link, spec) =>
    affectLinks(runtime, link, spec.link.bothWays, { type: 'limit', bytesPerSecond: spec.to }, spec),
})
