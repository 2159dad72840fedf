import { affectLinks, affectMember, allOf } from '../effects.js'
import { memberVerb } from '../fault-verb.js'

export const pause = memberVerb({
  verb: 'pause',
  phrase: 'pause {target=shard02}',
  effect: 'the member does nothing and does not answer; its timers stop',
  healing: 'the member continues with the messages that have arrived',
  needs: 'running',
  silences: true,
  endsWith: 'end of the process',
  schema: ({ member }) => member('pause', {}),
  async begin({ runtime, networkTimeoutMs }, member) {
    const link = { from: [member], to: 'everybody' } as const
    return allOf([
      await affectMember(runtime, member, { type: 'freeze' }),
      await affectLinks(runtime, link, true, { type: 'partition', silenceMs: networkTimeoutMs }),
    ])
  },
})
