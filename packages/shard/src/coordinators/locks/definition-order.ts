/** Who changes a collection's or a database's definition waits for others that do. Server: ddl_lock_manager.cpp. */
import type { MessageKind } from '@shardlab/actor'
import { databaseNameOf } from '@shardlab/member'
import type { DatabaseMoves } from './database-moves.js'
import type { DefinitionLocks } from './definition-locks.js'
import type { LockHolder } from './lock-wait.js'

interface OrderHost {
  readonly databaseMoves: Pick<DatabaseMoves, 'coordinate'>
  readonly definitionLocks: Pick<DefinitionLocks, 'free'>
}

/** Requests of coordinators carry the version of their database. */
interface CoordinatedRequest {
  readonly databaseVersion: unknown
  readonly db?: string
  readonly ns?: string
  /** The other name in a rename. */
  readonly to?: string
}

/**
 * The work of a request, behind what it has to wait for: a move of its database, and, if it changes a definition, a resharding.
 * What is no request to a coordinator waits for nobody.
 */
export function inDefinitionOrder<T>(
  host: OrderHost,
  kind: MessageKind,
  request: unknown,
  run: () => Promise<T> | T,
): () => Promise<T> | T {
  // Moves of a database wait by themselves.
  return kind === 'shard.move-primary' || !isCoordinated(request) ? run : coordinated(host, kind, request, run)
}

// Apart: what a closure uses has a place of its own in memory, also where the closure is never made.
function coordinated<T>(
  { databaseMoves, definitionLocks }: OrderHost,
  kind: MessageKind,
  { db, ns, to }: CoordinatedRequest,
  run: () => Promise<T> | T,
): () => Promise<T> | T {
  const coordinate = () => databaseMoves.coordinate(db ?? databaseNameOf(ns!), holderOf(kind), run)
  // A resharding takes its lock itself.
  const names = kind === 'shard.reshard-collection' ? [] : [ns, to, db].filter((name) => name !== undefined)
  const free = definitionLocks.free(names)
  return free === undefined ? coordinate : () => free.then(coordinate)
}

function isCoordinated(request: unknown): request is CoordinatedRequest {
  return 'databaseVersion' in (request as object)
}

/** As the server names its coordinators: what drops a whole database has it for itself. Server: sharding_ddl_coordinator.idl. */
function holderOf(kind: MessageKind): LockHolder {
  const operation = kind.slice(kind.indexOf('.') + 1).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
  return { operation, mode: operation === 'dropDatabase' ? 'X' : 'IX' }
}
