import { switchOn } from '../effects.js'
import { memberVerb } from '../fault-verb.js'

export const delayReplication = memberVerb({
  verb: 'delayReplication',
  phrase: 'delay replication of {target=shard02} by {by=10s}',
  effect: 'the member applies entries of the oplog this time after they were written; as primary it has no delay',
  healing: 'the member applies the entries that are due at once',
  roles: ['shard', 'config-server', 'mongod'],
  needs: 'running',
  needsOtherMembers: true,
  endsWith: 'end of the process',
  schema: ({ member, duration }) => member('delayReplication', { by: duration }),
  begin: (world, member, spec) =>
    switchOn(world, member, spec, 'delayed-replication', (faults) => Math.max(...faults.map(({ by }) => by))),
})
