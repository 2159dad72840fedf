/**
 * Excludes moves of a database's primary shard, its coordinators and commands from each other.
 * Server: DatabaseShardingState, isMovePrimaryInProgress; DDLLockManager.
 */
import { createDeferred, type Deferred } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { databaseNameOf } from '@shardlab/member'
import { type Entrant } from '@shardlab/node'
import { waitForLock, type LockHolder, type LockWait } from './lock-wait.js'

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
  readonly #wait: LockWait
  /** Databases that are being copied: changes of their unsharded collections would be lost. */
  readonly #copying = new Map<string, { readonly to: string; readonly ended: Deferred<void> }>()
  readonly #coordinators = new Map<string, Set<LockHolder>>()
  readonly #moves = new Map<string, Deferred<void>>()
  readonly #requested = new Map<string, { readonly to: string; readonly done: Promise<void> }>()
  #idle = createDeferred<void>()

  /** @param refuses changes fail during the copy instead of being blocked */
  constructor(refuses: boolean, wait: LockWait) {
    this.#refuses = refuses
    this.#wait = wait
  }

  /**
   * Resolves when the command may enter the collection; undefined: at once.
   * @throws CommandError 319 MovePrimaryInProgress
   */
  blocking(ns: string, { operation, routed }: Pick<Entrant, 'operation' | 'routed'>): Promise<void> | undefined {
    if (this.#copying.size === 0) return undefined
    const copying = this.#copying.get(databaseNameOf(ns))
    const isSharded = routed !== null && routed.shardVersion !== null && routed.shardVersion !== 'UNSHARDED'
    if (copying === undefined || isSharded || !changingCommands.has(operation.command)) return undefined
    if (this.#refuses) throw new CommandError('MovePrimaryInProgress', `movePrimary is in progress for namespace ${ns}`)
    return copying.ended.promise
  }

  /**
   * Runs a coordinator; moves of the database wait for its end.
   * @throws CommandError 46 LockBusy, see {@link waitForLock}
   */
  async coordinate<T>(db: string, holder: LockHolder, work: () => Promise<T> | T): Promise<T> {
    const sinceMs = this.#wait.context.now()
    while (this.#moves.has(db)) await waitForLock(this.#wait, db, () => this.#moving(db), sinceMs)
    return this.#runCoordinator(db, holder, work)
  }

  /** As {@link coordinate}, without a time limit: for operations that resume after a restart. */
  async recover<T>(db: string, holder: LockHolder, work: () => Promise<T> | T): Promise<T> {
    for (let move = this.#moves.get(db); move !== undefined; move = this.#moves.get(db)) await move.promise
    return this.#runCoordinator(db, holder, work)
  }

  /**
   * Runs a movePrimary, or joins a running one to the same shard.
   * Server: MovePrimaryCoordinator, checkIfOptionsConflict.
   * @throws CommandError 117 ConflictingOperationInProgress when the database is moving elsewhere;
   *   errors of the work
   */
  async joinOrStart(db: string, to: string, work: () => Promise<void>): Promise<void> {
    const requested = this.#requested.get(db)
    if (requested !== undefined) {
      if (requested.to === to) return requested.done
      throw new CommandError(
        'ConflictingOperationInProgress',
        'Another movePrimary operation with different arguments is already running ont the same database',
      )
    }
    const done = work().finally(() => this.#requested.delete(db))
    this.#requested.set(db, { to, done })
    return done
  }

  /**
   * Server: ActiveMovePrimariesRegistry.
   * @throws CommandError 117 ConflictingOperationInProgress when this shard copies another database
   */
  checkOnlyCopy(db: string): void {
    for (const [other, { to }] of this.#copying) {
      if (other === db) continue
      throw new CommandError(
        'ConflictingOperationInProgress',
        `Unable to start new movePrimary operation because this shard is currently moving its primary for namespace ${other} to ${to}`,
      )
    }
  }

  /**
   * Runs a move after other moves of the database and after all its coordinators.
   * @throws CommandError 46 LockBusy, see {@link waitForLock}
   */
  async move<T>(db: string, work: () => Promise<T>): Promise<T> {
    const sinceMs = this.#wait.context.now()
    while (this.#moves.has(db)) await waitForLock(this.#wait, db, () => this.#moving(db), sinceMs)
    return this.#runMove(db, async () => {
      while (this.#coordinators.has(db)) await waitForLock(this.#wait, db, () => this.#coordinating(db), sinceMs)
      return work()
    })
  }

  /** As {@link move}, without a time limit: for moves that a restart has interrupted. */
  async recoverMove<T>(db: string, work: () => Promise<T>): Promise<T> {
    for (let move = this.#moves.get(db); move !== undefined; move = this.#moves.get(db)) await move.promise
    return this.#runMove(db, async () => {
      while (this.#coordinators.has(db)) await this.#idle.promise
      return work()
    })
  }

  /** Blocks or refuses changes of the database's unsharded collections during the work. */
  async copy<T>(db: string, to: string, work: () => Promise<T>): Promise<T> {
    const ended = createDeferred<void>()
    this.#copying.set(db, { to, ended })
    try {
      return await work()
    } finally {
      this.#copying.delete(db)
      ended.resolve()
    }
  }

  #moving(db: string): (LockHolder & { readonly released: Promise<void> }) | undefined {
    const move = this.#moves.get(db)
    return move && { operation: 'movePrimary', mode: 'X', released: move.promise }
  }

  #coordinating(db: string): (LockHolder & { readonly released: Promise<void> }) | undefined {
    const [first] = this.#coordinators.get(db) ?? []
    return first && { ...first, released: this.#idle.promise }
  }

  async #runMove<T>(db: string, work: () => Promise<T>): Promise<T> {
    const ended = createDeferred<void>()
    this.#moves.set(db, ended)
    try {
      return await work()
    } finally {
      this.#moves.delete(db)
      ended.resolve()
    }
  }

  async #runCoordinator<T>(db: string, holder: LockHolder, work: () => Promise<T> | T): Promise<T> {
    const own = { ...holder }
    const holders = this.#coordinators.get(db) ?? new Set()
    this.#coordinators.set(db, holders.add(own))
    try {
      return await work()
    } finally {
      holders.delete(own)
      if (holders.size === 0) this.#coordinators.delete(db)
      this.#idle.resolve()
      this.#idle = createDeferred()
    }
  }
}
