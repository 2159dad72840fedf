/**
 * Refuses or blocks changes of a database's unsharded collections while they are copied to a new
 * primary shard.
 * Server: DatabaseShardingState, isMovePrimaryInProgress; ActiveMovePrimariesRegistry.
 */
import { createDeferred, type Deferred } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { databaseNameOf } from '@shardlab/member'
import { type Entrant } from '@shardlab/node'

const changingCommands: ReadonlySet<string> = new Set([
  'applyOps',
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

export class DatabaseCopies {
  readonly #refuses: boolean
  readonly #copying = new Map<string, { readonly to: string; readonly ended: Deferred<void> }>()

  /** @param refuses changes fail during the copy instead of being blocked */
  constructor(refuses: boolean) {
    this.#refuses = refuses
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
}
