import type { CommandRow } from '@shardlab/actor'
import { currentOperations, currentOpSpec, shownOwners } from '@shardlab/member'
import { DocumentWriter, findField } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { documentsIn } from '../remote/command-reply.js'
import { askAll } from '../reads/ask-all.js'
import { configCommand } from '../routing/primary.js'

const ownOperations = { idleConnections: false, idleCursors: false, idleSessions: false, truncateOps: true }

/** Server: cluster_current_op.cpp. */
export const currentOp: CommandRow<MongosInvocation> = {
  ...currentOpSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D702', 'D705', 'D721', 'D911'],
  summary: 'Lists the operations that run on the shards.',
  async run(invocation) {
    const { args, host, operation } = invocation
    // Shards do not know the users of their operations.
    const shownTo = shownOwners(invocation, args.bool('$ownOps') !== true)
    if (shownTo !== null)
      return new DocumentWriter(2048).documents('inprog', currentOperations(host, ownOperations, [], null, shownTo))
    const answers = await askAll(invocation, await host.shards.ids(operation), () => configCommand(invocation))
    const operations = answers.flatMap(([, reply]) => documentsIn(reply, 'inprog'))
    const shardOf = (document: Uint8Array) => findField(document, 'shard')?.asString() ?? ''
    operations.sort((a, b) => (shardOf(a) < shardOf(b) ? -1 : shardOf(a) > shardOf(b) ? 1 : 0))
    return new DocumentWriter(2048).documents('inprog', operations)
  },
}
