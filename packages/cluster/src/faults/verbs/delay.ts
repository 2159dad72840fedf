import { affectLinks } from '../effects.js'
import { linkVerb } from '../fault-verb.js'

export const delay = linkVerb({
  verb: 'delay',
  phrase: 'delay[ {percent=5%}] {link=between mongos01 and shard02} by {by=20ms}[..{upTo=40ms}]',
  effect: 'each message is late by this time, or by a random time between two; the order is kept',
  healing: '',
  schema: ({ link, duration }) =>
    link('delay', { by: duration, upTo: duration.optional() }).refine(
      ({ by, upTo }) => upTo === undefined || upTo >= by,
      'the shorter time must come first, as in 20ms..40ms',
    ),
  begin: ({ runtime }, link, spec) =>
    affectLinks(
      runtime,
      link,
      spec.link.bothWays,
      { type: 'delay', minMs: spec.by, maxMs: spec.upTo ?? spec.by },
      spec,
    ),
})
