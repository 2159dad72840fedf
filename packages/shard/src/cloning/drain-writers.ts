import { CommandError } from '@shardlab/bson'
import { within } from '../common/within.js'
import type { ShardHost, PreparedDocuments } from '../host/host.js'

interface DrainHost extends ShardHost {
  readonly preparedInserts: PreparedDocuments
}

const documentMovesTimeoutMs = 5_000
const transactionsTimeoutMs = 5_000

/**
 * Call after a critical section has begun to block writes; flush the node afterwards. Resolves when
 * earlier writes are applied, no document is moving into the collection, and no transaction uses
 * it.
 * @throws CommandError 117 ConflictingOperationInProgress when documents are still moving after
 *   five seconds, 24 LockTimeout when transactions are still open
 */
export async function drainWriters({ node, preparedInserts }: DrainHost, ns: string, uuid: Uint8Array): Promise<void> {
  const { context, stopping } = node
  // Commands that entered earlier apply their writes before this sleep ends.
  await context.sleep(0, stopping.signal)
  const movedIn = preparedInserts.drained(uuid)?.then(() => true)
  if (movedIn !== undefined && (await within(context, movedIn, documentMovesTimeoutMs)) === undefined)
    throw new CommandError(
      'ConflictingOperationInProgress',
      `Documents are being moved into collection ${ns} by changes of their shard key`,
    )
  if (!(await node.transactions.unused((each) => each === ns, transactionsTimeoutMs)))
    throw new CommandError('LockTimeout', `Transactions on collection ${ns} were still open after five seconds`)
}
