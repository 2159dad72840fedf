/**
 * What may happen to a database while its primary shard changes. Server: DatabaseShardingState, isMovePrimaryInProgress; DDLLockManager.
 */
import { createDeferred, type Deferred } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { databaseNameOf, type Entrant } from '@shardlab/node'

/** Commands that change collections or what is in them. */
const changingCommands: ReadonlySet<string> = new Set([
  'insert',
  'update',
  'delete',
  'findAndModify',
  'findandmodify',
  'bulkWrite',
  'create',
  'createIndexes',
  'dropIndexes',
  'deleteIndexes',
  'collMod',
  'drop',
  'renameCollection',
  'convertToCapped',
  'cloneCollectionAsCapped',
])

export class DatabaseMoves {
  readonly #refuses: boolean
  /** Databases of which a copy is being made: changes to their unsharded collections would be lost. */
  readonly #copying = new Map<string, Deferred<void>>()
  /** Coordinators at work, by database. */
  readonly #coordinators = new Map<string, number>()
  readonly #moves = new Map<string, Deferred<void>>()
  #idle = createDeferred<void>()

  /** @param refuses whether changes fail while a copy is made, instead of waiting for its end */
  constructor(refuses: boolean) {
    this.#refuses = refuses
  }

  /**
   * What a command has to wait for before it enters a collection; undefined: nothing.
   * @throws CommandError 319 MovePrimaryInProgress
   */
  blocking(ns: string, { operation, routed }: Pick<Entrant, 'operation' | 'routed'>): Promise<void> | undefined {
    if (this.#copying.size === 0) return undefined
    const copying = this.#copying.get(databaseNameOf(ns))
    const isSharded = routed !== null && routed.shardVersion !== null && routed.shardVersion !== 'UNSHARDED'
    if (copying === undefined || isSharded || !changingCommands.has(operation.command)) return undefined
    if (this.#refuses) throw new CommandError('MovePrimaryInProgress', `movePrimary is in progress for namespace ${ns}`)
    return copying.promise
  }

  /** Runs the work of a coordinator, which no move of the database interrupts. */
  async coordinate<T>(db: string, work: () => Promise<T> | T): Promise<T> {
    for (let move = this.#moves.get(db); move !== undefined; move = this.#moves.get(db)) await move.promise
    this.#coordinators.set(db, (this.#coordinators.get(db) ?? 0) + 1)
    try {
      return await work()
    } finally {
      const left = this.#coordinators.get(db)! - 1
      if (left > 0) this.#coordinators.set(db, left)
      else this.#coordinators.delete(db)
      this.#idle.resolve()
      this.#idle = createDeferred()
    }
  }

  /** Runs a move of the database: one at a time, when no coordinator is at work there. */
  async move<T>(db: string, work: () => Promise<T>): Promise<T> {
    for (let move = this.#moves.get(db); move !== undefined; move = this.#moves.get(db)) await move.promise
    const ended = createDeferred<void>()
    this.#moves.set(db, ended)
    try {
      while (this.#coordinators.has(db)) await this.#idle.promise
      return await work()
    } finally {
      this.#moves.delete(db)
      ended.resolve()
    }
  }

  /** Runs the work while nothing changes the database's unsharded collections. */
  async copy<T>(db: string, work: () => Promise<T>): Promise<T> {
    const ended = createDeferred<void>()
    this.#copying.set(db, ended)
    try {
      return await work()
    } finally {
      this.#copying.delete(db)
      ended.resolve()
    }
  }
}
