import type { CommandRow } from '@shardlab/actor'
import type { NodeInvocation } from '../host/node-host.js'
import { replSetAbortPrimaryCatchUp } from '../commands/repl-set-abort-primary-catch-up.js'
import { replSetFreeze } from '../commands/repl-set-freeze.js'
import { replSetInitiate } from '../commands/repl-set-initiate.js'
import { replSetMaintenance } from '../commands/repl-set-maintenance.js'
import { replSetReconfig } from '../commands/repl-set-reconfig.js'
import { replSetStepUp } from '../commands/repl-set-step-up.js'
import { replSetSyncFrom } from '../commands/repl-set-sync-from.js'

/** Commands of nodes whose set has several members. */
export const setRows: readonly CommandRow<NodeInvocation>[] = [
  replSetAbortPrimaryCatchUp,
  replSetFreeze,
  replSetInitiate,
  replSetMaintenance,
  replSetReconfig,
  replSetStepUp,
  replSetSyncFrom,
]
