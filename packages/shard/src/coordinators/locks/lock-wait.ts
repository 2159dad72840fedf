/** Server: dist_lock_manager.cpp, ddl_lock_manager.cpp. */
import type { ActorContext } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import { within } from '../../common/within.js'

export interface LockHolder {
  /** The server's name of the coordinator: `reshardCollection`, `movePrimary`. */
  readonly operation: string
  /** Coordinators of single collections share the lock of their database. */
  readonly mode: 'IX' | 'X'
}

export interface LockWait {
  readonly context: ActorContext
  readonly behaviours: Behaviours
}

/**
 * @param holder the holder, and a promise that settles when it may have released the lock;
 *   undefined: the lock is free
 * @param sinceMs start of the wait
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
