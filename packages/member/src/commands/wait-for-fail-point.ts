import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { maxTimeExpired } from '../operations/time-limit.js'
import type { MemberInvocation } from '../member-host.js'
import { controlEmulation } from '../access/needs.js'

const pollMs = 10

/** Server: fail_point_cmds.cpp, WaitForFailPointCommand; docs/fail_points.md. */
export const waitForFailPoint: CommandRow<MemberInvocation> = {
  name: 'waitForFailPoint',
  routing: 'local',
  access: 'admin',
  privileges: controlEmulation,
  adminOnly: true,
  manual: 'reference/parameters',
  status: 'partial',
  deviations: ['D712'],
  summary: 'Waits until a fail point has been activated a number of times since the member started.',
  behaviour: 'failPointCounts',
  fields: { timesEntered: 'number!', maxTimeMS: 'number!' },
  async run({ args, host, operation }) {
    const failPoint = host.failPoints.get(args.targetString())
    const { context } = host
    const maxTimeMs = args.number('maxTimeMS')!
    for (;;) {
      if (failPoint.timesEntered >= args.number('timesEntered')!) return new DocumentWriter(64)
      const leftMs = maxTimeMs === 0 ? pollMs : operation.startedAtMs + maxTimeMs - context.now()
      if (leftMs <= 0) throw maxTimeExpired()
      if (!(await operation.sleep(context, Math.min(pollMs, leftMs))))
        throw new CommandError('InterruptedAtShutdown', 'interrupted at shutdown')
    }
  },
}
