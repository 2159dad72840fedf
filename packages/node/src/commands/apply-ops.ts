import type { CommandRow } from '@shardlab/actor'
import { applyOperations } from '../apply-ops/apply-operations.js'
import type { NodeInvocation } from '../host/node-host.js'
import { applyOpsPrivileges } from '@shardlab/member'

/** Routers do not have it. */
export const applyOps: CommandRow<NodeInvocation> = {
  name: 'applyOps',
  routing: 'local',
  access: 'write',
  privileges: applyOpsPrivileges,
  manual: 'reference/command/applyOps',
  status: 'partial',
  missing: 'the commands dbCheck, emptycapped and importCollection, and those of transactions',
  summary: 'Applies operations in the form of oplog entries.',
  run: (invocation) => applyOperations(invocation, invocation.body),
}
