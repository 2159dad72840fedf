/** Server: dist_lock_manager.cpp, ddl_lock_manager.cpp. */
import type { ActorContext } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'

export interface LockHolder {
  /** The server's name of the coordinator: `reshardCollection`, `movePrimary`. */
  readonly operation: string
  /** Coordinators of single collections can share the lock of their database. */
  readonly mode: 'IX' | 'X'
}

export interface LockWait {
  readonly context: ActorContext
  readonly behaviours: Behaviours
}

/** 46 LockBusy. */
export function lockBusy(
  { behaviours }: LockWait,
  name: string,
  mode: LockHolder['mode'],
  holders: readonly LockHolder[],
): CommandError {
  return new CommandError('LockBusy', text(behaviours, name, mode, holders))
}

function text(
  { definitionLockText, definitionLockTimeoutMs }: Behaviours,
  name: string,
  wanted: LockHolder['mode'],
  holders: readonly LockHolder[],
): string {
  switch (definitionLockText) {
    case 'config':
      return `timed out waiting for ${name}`
    case 'local':
      return `Failed to acquire dist lock ${name} locally`
    case 'reason':
      return `Failed to acquire DDL lock for namespace '${name}' after ${definitionLockTimeoutMs}ms that is currently locked with reason '${holders[0]?.operation ?? ''}'`
    case 'holders': {
      const list = holders.map(({ operation, mode }) => `"{ operation: "${operation}", lock mode: "${mode}" }"`)
      return `Failed to acquire DDL lock for '${name}' in mode ${wanted} after ${definitionLockTimeoutMs}ms that is currently locked by '{${list.join(', ')}}'`
    }
  }
}
