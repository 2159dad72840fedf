/**
 * The lock of `fsync`: writes wait before they begin, and nothing is written to the disk, so that
 * its files can be copied. Server: fsync.cpp, FSyncLockThread.
 */
import { createDeferred, type Deferred } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'

export interface LockableDisk {
  /** Resolves when nothing is being written. Writes wait until {@link unlock}. */
  lock(): Promise<void>
  unlock(): void
}

/** Shape of what commands wait for: see `awaitEnd`. */
export interface HeldLock {
  readonly isOpen: boolean
  readonly ended: Promise<void>
}

export class WriteLock {
  readonly #disk: LockableDisk
  readonly #flush: () => Promise<void>
  #count = 0
  #released: Deferred<void> | null = null
  /** Commands that lock run one after the other. */
  #last: Promise<unknown> = Promise.resolve()

  /** @param flush resolves when all changes so far are on the disk */
  constructor(disk: LockableDisk, flush: () => Promise<void>) {
    this.#disk = disk
    this.#flush = flush
  }

  /** Null: writes may begin. */
  get held(): HeldLock | null {
    return this.#released === null ? null : { isOpen: true, ended: this.#released.promise }
  }

  /**
   * @returns how often it is locked now
   * @throws CommandError 14031 OutOfDiskSpace; 11601 Interrupted: unlocked before the lock was held
   */
  lock(): Promise<number> {
    const locked = this.#last.then(() => this.#lock())
    this.#last = locked.catch(() => {})
    return locked
  }

  async #lock(): Promise<number> {
    if (this.#count++ > 0) return this.#count
    const own = (this.#released = createDeferred())
    const requireHeld = (): void => {
      if (this.#released !== own) throw new CommandError('Interrupted', 'fsyncUnlock came before the lock was held')
    }
    try {
      await this.#flush()
      requireHeld()
      await this.#disk.lock()
    } catch (error) {
      if (this.#released === own) this.unlock()
      throw error
    }
    requireHeld()
    return this.#count
  }

  /** @returns how often it is still locked. @throws CommandError 20 IllegalOperation */
  unlock(): number {
    if (this.#count === 0) throw new CommandError('IllegalOperation', 'fsyncUnlock called when not locked')
    if (--this.#count === 0) {
      this.#disk.unlock()
      this.#released!.resolve()
      this.#released = null
    }
    return this.#count
  }

  /** The member shuts down, and must write what it has. */
  release(): void {
    while (this.#count > 0) this.unlock()
  }
}

/** Besides commands whose access is `write`: others wait when they are flushed. */
const writingCommands: ReadonlySet<string> = new Set([
  'commitTransaction',
  'compact',
  'prepareTransaction',
  'removeQuerySettings',
  'renameCollection',
  'setClusterParameter',
  'setDefaultRWConcern',
  'setFeatureCompatibilityVersion',
  'setQuerySettings',
])

export function isWriting({ name, access }: { readonly name: string; readonly access: string }): boolean {
  return access === 'write' || writingCommands.has(name)
}
