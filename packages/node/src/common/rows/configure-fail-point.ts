import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError } from '@shardlab/bson'
import type { CommonInvocation } from '../common-invocation.js'

/** Server: fail_point_cmds.cpp, fail_point.cpp (setGlobalFailPoint). */
export const configureFailPoint: CommandRow<CommonInvocation> = {
  name: 'configureFailPoint',
  routing: 'local',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/parameters',
  status: 'partial',
  missing: 'all fail points: every name is one that does not exist',
  summary: 'Switches a fail point on or off.',
  run({ args }) {
    const name = args.target.type === BsonType.string ? args.target.asString() : ''
    throw new CommandError('FailPointSetFailed', `${name} not found`)
  },
}
