import {
  listSource,
  parseCurrentOpOptions,
  currentOperations,
  shownOwners,
  type IdleCursor,
  checkAdminDatabase,
} from '@shardlab/member'
import type { NodeHost } from '../../host/node-host.js'
import type { NodeStageSource } from './source.js'

/** Server: document_source_current_op.cpp. */
export const currentOpSource: NodeStageSource = {
  name: '$currentOp',
  open({ invocation, ns, argument }) {
    const { host, routed } = invocation
    checkAdminDatabase(ns)
    const options = parseCurrentOpOptions(argument)
    return listSource(
      currentOperations(
        host,
        options,
        idleCursorsOf(host),
        routed === null ? null : host.role.memberName,
        shownOwners(invocation, options.allUsers),
      ),
    )
  },
}

function* idleCursorsOf({ cursors }: NodeHost): Generator<IdleCursor> {
  for (const { id, ns, lastUsedMs, noTimeout, tailable, waiting } of cursors)
    if (waiting === null)
      yield { id, ns, lastUsedMs, noTimeout, tailable: tailable !== 'no', awaitData: tailable === 'await-data' }
}
