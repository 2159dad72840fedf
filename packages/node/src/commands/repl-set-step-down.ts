import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { checkLeavesPrimary } from '@shardlab/member'
import { stepUpTimer } from '../host/primary-state.js'
import type { NodeInvocation } from '../host/node-host.js'
import { answered } from '../replication/answered.js'

const defaultSeconds = 60
const defaultCatchUpSeconds = 10

/** Server: repl_set_commands.cpp, replication_coordinator_impl.cpp (stepDown). */
export const replSetStepDown: CommandRow<NodeInvocation> = {
  name: 'replSetStepDown',
  routing: 'local',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/replSetStepDown',
  status: 'partial',
  deviations: ['D901'],
  summary:
    'With force makes the member a secondary; it is elected again when the time is over. Without force it fails, because no other member can be elected. Not on routers.',
  async run({ host, args, operation }) {
    if (host.set !== null) {
      const error = await host.set.stepDown({
        seconds: Math.trunc(args.target.isNumber() ? args.target.asNumber() : 0),
        catchUpSeconds: args.number('secondaryCatchUpPeriodSecs') ?? null,
        force: args.bool('force') === true,
      })
      return answered(error)
    }
    const seconds = Math.trunc(args.target.isNumber() ? args.target.asNumber() : 0) || defaultSeconds
    if (seconds < 0) throw new CommandError('BadValue', 'stepdown period must be a positive integer')
    const force = args.bool('force') === true
    const catchUpSeconds = args.number('secondaryCatchUpPeriodSecs') ?? (force ? 0 : defaultCatchUpSeconds)
    if (catchUpSeconds < 0)
      throw new CommandError('BadValue', 'secondaryCatchUpPeriodSecs period must be a positive or absent')
    if (seconds < catchUpSeconds)
      throw new CommandError('BadValue', 'stepdown period must be longer than secondaryCatchUpPeriodSecs')
    if (!host.primary.isPrimary) throw new CommandError('NotWritablePrimary', "not primary so can't step down")
    if (!force) await checkLeavesPrimary(host, operation, catchUpSeconds)
    host.primary.stepDown()
    host.context.setTimer(stepUpTimer, seconds * 1000)
    return new DocumentWriter(256)
  },
}
