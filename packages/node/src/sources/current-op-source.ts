import { CommandError } from '@shardlab/bson'
import { listSource } from '../crud/list-source.js'
import { parseCurrentOpOptions } from '../operations/current-op-options.js'
import { currentOperations } from '../operations/current-operations.js'
import type { IdleCursor } from '../operations/operation-document.js'
import type { StorageNode } from '../storage-node.js'
import type { NodeStageSource } from './source.js'

/** Server: document_source_current_op.cpp. */
export const currentOpSource: NodeStageSource = {
  name: '$currentOp',
  open({ invocation: { host, routed }, ns, argument }) {
    checkAdminDatabase(ns)
    const options = parseCurrentOpOptions(argument)
    return listSource(currentOperations(host, options, idleCursorsOf(host), routed === null ? null : host.role.setName))
  },
}

/** @throws CommandError 73 InvalidNamespace */
export function checkAdminDatabase(ns: string): void {
  if (!ns.startsWith('admin.$cmd'))
    throw new CommandError(
      'InvalidNamespace',
      "$currentOp must be run against the 'admin' database with {aggregate: 1}",
    )
}

function* idleCursorsOf({ cursors }: StorageNode): Generator<IdleCursor> {
  for (const { id, ns, lastUsedMs, noTimeout, tailable, waiting } of cursors)
    if (waiting === null)
      yield { id, ns, lastUsedMs, noTimeout, tailable: tailable !== 'no', awaitData: tailable === 'await-data' }
}
