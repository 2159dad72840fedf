import type { CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'
import { leavePrimary } from '../operations/leave-primary.js'
import { onCluster } from '../access/needs.js'

const localHosts = /^(127\.|::1|::ffff:127\.|localhost)/

/** Server: shutdown.h, shutdown_d.cpp. */
export const shutdown: CommandRow<MemberInvocation> = {
  name: 'shutdown',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('shutdown'),
  adminOnly: true,
  manual: 'reference/command/shutdown',
  status: 'partial',
  deviations: ['D720'],
  summary:
    'Ends the member without a reply; `cluster.restart` or the fault `restart` starts it again. Since 3.0 a primary steps down first; with force it also leaves when no other member can be elected.',
  fields: { force: 'bool', timeoutSecs: 'number' },
  async run({ args, host, operation, remote }) {
    if (!localHosts.test(remote))
      throw new CommandError('Unauthorized', 'shutdown must run from localhost when running db without auth')
    const timeoutSeconds = args.number('timeoutSecs') ?? host.behaviours.shutdownTimeoutSeconds
    if (host.behaviours.shutdownNeedsSecondary)
      await leavePrimary(host, operation, { seconds: timeoutSeconds, force: args.bool('force') === true })
    host.context.exit()
    return operation.interruptible(new Promise<never>(() => {}))
  },
}
