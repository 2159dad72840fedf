/** How long changes of definitions wait for each other, and what they say then. Server: dist_lock_manager.cpp, ddl_lock_manager.cpp. */
import type { ActorContext } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import { within } from '../../common/within.js'

/** What has the lock. */
export interface LockHolder {
  /** As the server names its coordinators: `reshardCollection`, `movePrimary`. */
  readonly operation: string
  /** Who works on one collection shares the lock of its database. */
  readonly mode: 'IX' | 'X'
}

export interface LockWait {
  readonly context: ActorContext
  readonly behaviours: Behaviours
}

/**
 * Waits until nobody holds a lock.
 * @param holder who has it, and what settles when that may have changed; undefined: nobody
 * @param sinceMs when the wait has begun
 * @throws CommandError 46 LockBusy after `definitionLockTimeoutMs`
 */
export async function waitForLock(
  { context, behaviours }: LockWait,
  name: string,
  holder: () => (LockHolder & { readonly released: Promise<unknown> }) | undefined,
  sinceMs = context.now(),
): Promise<void> {
  const timeoutMs = behaviours.definitionLockTimeoutMs
  const untilMs = sinceMs + timeoutMs
  for (let held = holder(); held !== undefined; held = holder()) {
    const released = held.released.then(
      () => true,
      () => true,
    )
    if ((await within(context, released, Math.max(0, untilMs - context.now()))) === undefined)
      throw new CommandError('LockBusy', text(behaviours, name, held, timeoutMs))
  }
}

function text(
  { definitionLockText }: Behaviours,
  name: string,
  { operation, mode }: LockHolder,
  timeoutMs: number,
): string {
  switch (definitionLockText) {
    case 'config':
      return `timed out waiting for ${name}`
    case 'local':
      return `Failed to acquire dist lock ${name} locally`
    case 'reason':
      return `Failed to acquire DDL lock for namespace '${name}' after ${timeoutMs}ms that is currently locked with reason '${operation}'`
    case 'holders':
      return `Failed to acquire DDL lock for '${name}' in mode X after ${timeoutMs}ms that is currently locked by '{"{ operation: "${operation}", lock mode: "${mode}" }"}'`
  }
}
