import { memberVerb } from '../fault-verb.js'

export const resume = memberVerb({
  verb: 'resume',
  phrase: 'resume {target=shard02}',
  effect: 'heals every pause of the member; the fault ends at once',
  healing: '',
  needs: 'paused',
  schema: ({ instant }) => instant('resume'),
  async begin(world, member) {
    await world.resume(member)
    return null
  },
})
