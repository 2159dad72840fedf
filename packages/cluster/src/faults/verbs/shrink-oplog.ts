import { switchOn } from '../effects.js'
import { memberVerb } from '../fault-verb.js'

export const shrinkOplog = memberVerb({
  verb: 'shrinkOplog',
  phrase: 'shrink oplog of {target=shard02} to {size=100KB}',
  effect:
    'the oplog keeps this size of the newest entries; a member that needs an older entry is too stale and stays RECOVERING',
  healing: 'the oplog can grow to its size again; dropped entries do not return',
  roles: ['shard', 'config-server', 'mongod'],
  needs: 'running',
  endsWith: 'end of the process',
  schema: ({ member, size }) => member('shrinkOplog', { to: size }),
  begin: (world, member, spec) =>
    switchOn(world, member, spec, 'small-oplog', (faults) => Math.min(...faults.map(({ to }) => to))),
})
