import { CommandError } from '@shardlab/bson'
import { within } from '../common/within.js'
import type { ShardHost, PreparedDocuments } from '../host/host.js'

interface DrainHost extends ShardHost {
  readonly preparedInserts: PreparedDocuments
}

/** Longest wait, with writers waiting, for documents that are moving in one by one. */
const documentMovesTimeoutMs = 5_000

/**
 * For whoever has just begun to let writers wait: resolves when those who were let in before have applied their changes, and no document
 * is on its way into the collection. The caller flushes the node.
 * @throws CommandError 117 ConflictingOperationInProgress when documents are still on their way after five seconds
 */
export async function drainWriters({ node, preparedInserts }: DrainHost, ns: string, uuid: Uint8Array): Promise<void> {
  const { context, stopping } = node
  // Who was let in goes on within this turn.
  await context.sleep(0, stopping.signal)
  const settled = preparedInserts.settled(uuid)?.then(() => true)
  if (settled !== undefined && (await within(context, settled, documentMovesTimeoutMs)) === undefined)
    throw new CommandError(
      'ConflictingOperationInProgress',
      `Documents are being moved into collection ${ns} by changes of their shard key`,
    )
}
