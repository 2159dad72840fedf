import { memberVerb } from '../fault-verb.js'

export const restart = memberVerb({
  verb: 'restart',
  phrase: 'restart {target=shard02}',
  effect: 'the member crashes and starts; the fault ends at once',
  healing: '',
  silences: true,
  schema: ({ instant }) => instant('restart'),
  async begin({ runtime, restart }, member) {
    await runtime.crash(member)
    await restart(member)
    return null
  },
})
