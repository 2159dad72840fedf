/**
 * Serializes changes of the definition of a collection or database on its primary shard. A
 * collection's lock includes one of its database.
 * Server: ddl_lock_manager.cpp; before 7.0 dist_lock_manager.cpp.
 */
import { createDeferred, type Deferred } from '@shardlab/actor'
import { databaseNameOf } from '@shardlab/member'
import { lockBusy, type LockHolder, type LockWait } from './lock-wait.js'
import { within } from '../../common/within.js'

export interface LockRequest {
  /** The server's name of the coordinator: `reshardCollection`, `movePrimary`. */
  readonly operation: string
  /** Namespaces and databases. */
  readonly names: readonly string[]
}

interface Waiter {
  readonly holder: LockHolder
  readonly granted: Deferred<true>
}

/** Granted in the order of the requests. */
interface Lock {
  readonly holders: Set<LockHolder>
  readonly waiters: Waiter[]
}

interface Held {
  readonly name: string
  readonly holder: LockHolder
}

export class DdlLocks {
  readonly #wait: LockWait
  readonly #isOff: boolean
  readonly #locks = new Map<string, Lock>()

  /** @param isOff a deliberate defect: see `mutationNames` */
  constructor(wait: LockWait, isOff = false) {
    this.#wait = wait
    this.#isOff = isOff
  }

  /**
   * Runs the work with the locks. They are requested one after the other in the order of their
   * names, so that two requests never wait for each other.
   * @throws CommandError 46 LockBusy after `definitionLockTimeoutMs`; errors of the work
   */
  hold<T>(request: LockRequest, work: () => Promise<T>): Promise<T> {
    return this.#hold(request, this.#wait.context.now() + this.#wait.behaviours.definitionLockTimeoutMs, work)
  }

  /**
   * As {@link hold}, without a time limit: for operations that resume after a restart. Before it
   * returns it has the locks that were free, or waits for one.
   */
  recover<T>(request: LockRequest, work: () => Promise<T>): Promise<T> {
    return this.#hold(request, null, work)
  }

  async #hold<T>({ operation, names }: LockRequest, untilMs: number | null, work: () => Promise<T>): Promise<T> {
    const held: Held[] = []
    try {
      for (const [name, mode] of this.#modes(names)) {
        const holder = { operation, mode }
        const waiting = this.#isOff ? undefined : this.#request(name, holder, untilMs)
        if (waiting !== undefined) await waiting
        held.push({ name, holder })
      }
      return await work()
    } finally {
      for (const each of held.toReversed()) this.#release(each)
    }
  }

  /** In order. */
  #modes(names: readonly string[]): [name: string, mode: LockHolder['mode']][] {
    const ofDatabase = this.#wait.behaviours.databaseLockIsShared ? 'IX' : 'X'
    const modes = new Map<string, LockHolder['mode']>()
    for (const name of names) {
      const db = databaseNameOf(name)
      if (db !== name && !modes.has(db)) modes.set(db, ofDatabase)
      modes.set(name, 'X')
    }
    return [...modes].sort(([a], [b]) => (a < b ? -1 : 1))
  }

  /** undefined: granted at once. */
  #request(name: string, holder: LockHolder, untilMs: number | null): Promise<void> | undefined {
    let lock = this.#locks.get(name)
    if (lock === undefined) this.#locks.set(name, (lock = { holders: new Set(), waiters: [] }))
    const waiter: Waiter = { holder, granted: createDeferred() }
    lock.waiters.push(waiter)
    this.#grant(lock)
    return lock.holders.has(holder) ? undefined : this.#await(name, lock, waiter, untilMs)
  }

  async #await(name: string, lock: Lock, waiter: Waiter, untilMs: number | null): Promise<void> {
    const { context } = this.#wait
    if (untilMs === null) {
      await waiter.granted.promise
      return
    }
    if ((await within(context, waiter.granted.promise, Math.max(0, untilMs - context.now()))) !== undefined) return
    // Granted in the instant in which the wait ended.
    if (lock.holders.has(waiter.holder)) return
    lock.waiters.splice(lock.waiters.indexOf(waiter), 1)
    this.#grant(lock)
    throw lockBusy(this.#wait, name, waiter.holder.mode, [...lock.holders])
  }

  #release({ name, holder }: Held): void {
    const lock = this.#locks.get(name)
    if (lock === undefined) return
    lock.holders.delete(holder)
    this.#grant(lock)
    if (lock.holders.size === 0 && lock.waiters.length === 0) this.#locks.delete(name)
  }

  #grant({ holders, waiters }: Lock): void {
    for (let next = waiters[0]; next !== undefined && isCompatible(next.holder, holders); next = waiters[0]) {
      waiters.shift()
      holders.add(next.holder)
      next.granted.resolve(true)
    }
  }
}

function isCompatible({ mode }: LockHolder, holders: ReadonlySet<LockHolder>): boolean {
  if (holders.size === 0) return true
  if (mode === 'X') return false
  for (const holder of holders) if (holder.mode === 'X') return false
  return true
}
