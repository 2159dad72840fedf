import type { CommandRow } from '@shardlab/actor'
import { applyOperations } from '../apply-ops/apply-operations.js'
import type { NodeInvocation } from '../host/node-host.js'

/** Routers do not have it. */
export const applyOps: CommandRow<NodeInvocation> = {
  name: 'applyOps',
  routing: 'local',
  access: 'write',
  manual: 'reference/command/applyOps',
  status: 'partial',
  missing: 'the commands dbCheck, emptycapped and importCollection, and those of transactions',
  summary: 'Applies operations in the form of oplog entries.',
  run: (invocation) => applyOperations(invocation, invocation.body),
}
