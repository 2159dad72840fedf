import { CommandError } from '@shardlab/bson'
import type { ShardHost } from '../host/host.js'

const transactionsTimeoutMs = 5_000

/**
 * Call after a critical section has begun to block writes; flush the node afterwards. Resolves when
 * earlier writes are applied and no transaction uses the collection.
 * @throws CommandError 24 LockTimeout when transactions are still open after five seconds
 */
export async function drainWriters({ node }: ShardHost, ns: string): Promise<void> {
  const { context, stopping } = node
  // Commands that entered earlier apply their writes before this sleep ends.
  await context.sleep(0, stopping.signal)
  if (!(await node.transactions.unused((each) => each === ns, transactionsTimeoutMs)))
    throw new CommandError('LockTimeout', `Transactions on collection ${ns} were still open after five seconds`)
}
