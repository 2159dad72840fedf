/**
 * Waits for other members after each batch that a recipient has stored. Server:
 * migration_secondary_throttle_options.cpp, chunk_move_write_concern_options.cpp.
 */
import { CommandError, ErrorCodes, findField, firstFieldName } from '@shardlab/bson'
import { parseWriteConcern } from '@shardlab/member'
import type { NodeHost } from '@shardlab/node'

/** Of a concern without a `wtimeout`. */
const timeoutMs = 60_000

/**
 * @param concern empty: one other member, if the set has one. A member that takes too long does not
 *   fail the migration.
 * @throws CommandError 100 UnsatisfiableWriteConcern, and others of the concern
 */
export async function throttleBySecondaries(node: NodeHost, concern: Uint8Array): Promise<void> {
  const { set, behaviours, context } = node
  const isDefault = firstFieldName(concern) === undefined
  const parsed = parseWriteConcern(concern, behaviours)
  const limitMs = findField(concern, 'wtimeout')?.asNumber() ?? 0
  const outcome = await context.all([
    set.awaitWriteConcern(
      set.lastApplied,
      { w: parsed?.w ?? 2, j: findField(concern, 'j')?.isTruthy() ?? null },
      { timeoutMs: limitMs > 0 ? limitMs : timeoutMs, signal: node.stopping.signal },
    ),
  ])
  const [error] = outcome
  if (error === 'late') context.log('warn', 'secondaryThrottle on, but doc insert timed out; continuing')
  else if (error instanceof CommandError && !(isDefault && error.code === ErrorCodes.UnsatisfiableWriteConcern))
    throw error
}
