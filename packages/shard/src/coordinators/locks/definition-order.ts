/**
 * Serializes changes of the definition of a collection or database.
 * Server: ddl_lock_manager.cpp.
 */
import type { MessageKind } from '@shardlab/actor'
import { databaseNameOf } from '@shardlab/member'
import type { DatabaseMoves } from './database-moves.js'
import type { DefinitionLocks } from './definition-locks.js'
import type { LockHolder } from './lock-wait.js'

interface OrderHost {
  readonly databaseMoves: Pick<DatabaseMoves, 'coordinate'>
  readonly definitionLocks: Pick<DefinitionLocks, 'free'>
}

/** Requests to coordinators carry the version of their database. */
interface CoordinatedRequest {
  readonly databaseVersion: unknown
  readonly db?: string
  readonly ns?: string
  /** The new name in a rename. */
  readonly to?: string
}

/**
 * Delays a coordinator until moves of its database and, if it changes a definition, reshardings
 * have ended. Other requests run at once.
 */
export function inDefinitionOrder<T>(
  host: OrderHost,
  kind: MessageKind,
  request: unknown,
  run: () => Promise<T> | T,
): () => Promise<T> | T {
  // DatabaseMoves.move waits itself.
  return kind === 'shard.move-primary' || !isCoordinated(request) ? run : coordinated(host, kind, request, run)
}

// A separate function: a closure's variables are allocated even when the closure is not created.
function coordinated<T>(
  { databaseMoves, definitionLocks }: OrderHost,
  kind: MessageKind,
  { db, ns, to }: CoordinatedRequest,
  run: () => Promise<T> | T,
): () => Promise<T> | T {
  const coordinate = () => databaseMoves.coordinate(db ?? databaseNameOf(ns!), holderOf(kind), run)
  // A resharding takes the lock itself.
  const names = kind === 'shard.reshard-collection' ? [] : [ns, to, db].filter((name) => name !== undefined)
  const free = definitionLocks.free(names)
  return free === undefined ? coordinate : () => free.then(coordinate)
}

function isCoordinated(request: unknown): request is CoordinatedRequest {
  return 'databaseVersion' in (request as object)
}

/**
 * `operation` is the server's name. A drop of a database excludes other coordinators.
 * Server: sharding_ddl_coordinator.idl.
 */
function holderOf(kind: MessageKind): LockHolder {
  const operation = kind.slice(kind.indexOf('.') + 1).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
  return { operation, mode: operation === 'dropDatabase' ? 'X' : 'IX' }
}
