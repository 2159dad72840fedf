import { affectMember } from '../effects.js'
import { memberVerb } from '../fault-verb.js'

export const fullDisk = memberVerb({
  verb: 'fullDisk',
  phrase: 'fill disk of {target=shard02}',
  effect: 'the disk is full: operations that change data are refused',
  healing: '',
  roles: ['shard', 'config-server', 'mongod'],
  schema: ({ member }) => member('fullDisk', {}),
  begin: ({ runtime }, member) => affectMember(runtime, member, { type: 'full-disk' }),
})
