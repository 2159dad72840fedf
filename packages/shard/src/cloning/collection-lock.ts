/**
 * Both phases of a donor's critical section begin under the exclusive lock of the collection, which
 * waits for the transactions that use it. Server: collection_critical_section.cpp.
 */
import { CommandError } from '@shardlab/bson'
import type { CriticalSection, ShardHost } from '../host/host.js'

export interface LockRequest {
  readonly ns: string
  readonly timeoutMs: number
}

/**
 * Call after a critical section has begun to block writes; flush the node afterwards. Resolves when
 * earlier writes are applied and no transaction uses the collection.
 * @throws CommandError 24 LockTimeout
 */
export async function drainWriters({ node }: ShardHost, request: LockRequest): Promise<void> {
  const { context, stopping } = node
  // Commands that entered earlier apply their writes before this sleep ends.
  await context.sleep(0, stopping.signal)
  await underLock(node, request, null)
}

/**
 * Waits for transactions that have begun to read while writes were blocked: their later statements
 * must not find the documents on the new owner, with changes that it has accepted.
 * @param section returns the critical section; null: it has ended
 * @throws CommandError 24 LockTimeout
 */
export function blockReads(
  { node }: ShardHost,
  request: LockRequest,
  section: () => CriticalSection | null,
): Promise<void> {
  return underLock(node, request, () => section()?.blockReads())
}

async function underLock(
  { transactions }: ShardHost['node'],
  { ns, timeoutMs }: LockRequest,
  block: (() => void) | null,
): Promise<void> {
  if (!(await transactions.whenUnused((each) => each === ns, timeoutMs, block)))
    throw new CommandError(
      'LockTimeout',
      `Unable to acquire X lock on '{${ns}: Collection, ${ns}}' within ${timeoutMs}ms.`,
    )
}
