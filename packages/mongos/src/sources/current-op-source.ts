import {
  checkAdminDatabase,
  currentOperations,
  listSource,
  parseCurrentOpOptions,
  type IdleCursor,
} from '@shardlab/member'
import type { MongosHost } from '../host/mongos-host.js'
import type { MongosStageSource } from './source.js'

/** Server: document_source_current_op.cpp. */
export const currentOpSource: MongosStageSource = {
  name: '$currentOp',
  place: (argument) => (parseCurrentOpOptions(argument).localOps ? 'router' : 'every-shard'),
  open({ invocation: { host }, ns, argument }) {
    checkAdminDatabase(ns)
    return listSource(currentOperations(host, parseCurrentOpOptions(argument), idleCursorsOf(host)))
  },
}

function* idleCursorsOf({ cursors }: Pick<MongosHost, 'cursors'>): Generator<IdleCursor> {
  for (const { id, ns, lastUsedMs, noTimeout, tailable } of cursors.idle())
    yield { id, ns, lastUsedMs, noTimeout, tailable: tailable !== 'no', awaitData: tailable === 'await-data' }
}
