import { affectMember } from '../effects.js'
import { memberVerb } from '../fault-verb.js'

export const slowDisk = memberVerb({
  verb: 'slowDisk',
  phrase: 'slow disk of {target=shard02} by {by=20ms}',
  effect: 'each write to the disk takes this time',
  healing: '',
  roles: ['shard', 'config-server', 'mongod'],
  schema: ({ member, duration }) => member('slowDisk', { by: duration }),
  begin: ({ runtime }, member, { by }) => affectMember(runtime, member, { type: 'slow-disk', perAppendMs: by }),
})
