import {
  checkAdminDatabase,
  currentOperations,
  shownOwners,
  listSource,
  parseCurrentOpOptions,
  type IdleCursor,
} from '@shardlab/member'
import type { MongosHost } from '../host/mongos-host.js'
import type { MongosStageSource } from './source.js'

/** Server: document_source_current_op.cpp. */
export const currentOpSource: MongosStageSource = {
  name: '$currentOp',
  /** Shards do not know the users of their operations. */
  place(argument, { operation }) {
    const { localOps, allUsers } = parseCurrentOpOptions(argument)
    return localOps || (operation.users !== null && !allUsers) ? 'router' : 'every-shard'
  },
  open({ invocation, ns, argument }) {
    const { host } = invocation
    checkAdminDatabase(ns)
    const options = parseCurrentOpOptions(argument)
    const shownTo = shownOwners(invocation, options.allUsers)
    return listSource(currentOperations(host, options, idleCursorsOf(host), null, shownTo))
  },
}

function* idleCursorsOf({ cursors }: Pick<MongosHost, 'cursors'>): Generator<IdleCursor> {
  for (const { id, ns, lastUsedMs, noTimeout, tailable } of cursors.idle())
    yield { id, ns, lastUsedMs, noTimeout, tailable: tailable !== 'no', awaitData: tailable === 'await-data' }
}
