/** Open cursors of a router. Server: cluster_cursor_manager.cpp; manual: tutorial/iterate-a-cursor. */
import { CommandError } from '@shardlab/bson'
import { cursorTimeoutMs, type SessionId } from '@shardlab/node'
import type { MongosInvocation } from '../command/invocation.js'
import type { ClusterCursor } from './cluster-cursor.js'

interface Entry {
  readonly cursor: ClusterCursor
  /** Key of the session that opened it. */
  readonly session: string | null
  readonly noTimeout: boolean
  /** Size of batches for which the client names none; 0: no limit but bytes. */
  readonly batchSize: number
  lastUsedMs: number
  inUse: boolean
  /** Killed while a getMore was at it. */
  killed: boolean
}

export interface OpenCursorOptions {
  readonly cursor: ClusterCursor
  readonly session: SessionId | null
  readonly noTimeout: boolean
  readonly batchSize: number
}

/** A cursor that one getMore works on. */
export interface PinnedCursor {
  readonly cursor: ClusterCursor
  readonly batchSize: number
}

export class ClusterCursorManager {
  readonly #entries = new Map<bigint, Entry>()
  readonly #host: MongosInvocation['host']
  readonly #newId: () => bigint
  /** Cursors closed for idleness. */
  timedOutCount = 0

  /** `newId` draws random positive int64 numbers. */
  constructor(host: MongosInvocation['host'], newId: () => bigint) {
    this.#host = host
    this.#newId = newId
  }

  get size(): number {
    return this.#entries.size
  }

  /** Cursors that a getMore is at. */
  get pinnedCount(): number {
    return this.#count((entry) => entry.inUse)
  }

  /** Cursors on more than one shard. */
  get multiTargetCount(): number {
    return this.#count((entry) => entry.cursor.multiTarget)
  }

  /** Takes a cursor in. @throws CommandError 365 TemporarilyUnavailable when the table is full; the cursor is closed then */
  open({ cursor, session, noTimeout, batchSize }: OpenCursorOptions): bigint {
    const { cursorsMax } = this.#host.limits
    if (this.#entries.size >= cursorsMax) {
      this.#host.limitReached('cursorsMax', cursorsMax)
      cursor.kill(this.#host)
      throw new CommandError('TemporarilyUnavailable', `too many open cursors: the limit is ${cursorsMax}`)
    }
    let id = this.#newId()
    while (this.#entries.has(id)) id = this.#newId()
    cursor.detach()
    this.#entries.set(id, {
      cursor,
      session: session?.key ?? null,
      noTimeout,
      batchSize,
      lastUsedMs: this.#host.context.now(),
      inUse: false,
      killed: false,
    })
    return id
  }

  /** @throws CommandError 43 CursorNotFound, 143 CursorInUse, 13 Unauthorized, 50736 to 50738 for other sessions */
  pin(id: bigint, ns: string, session: SessionId | null): PinnedCursor {
    const entry = this.#entries.get(id)
    if (entry === undefined) throw new CommandError('CursorNotFound', `cursor id ${id} not found`)
    if (entry.cursor.ns !== ns)
      throw new CommandError(
        'Unauthorized',
        `Requested getMore on namespace '${ns}', but cursor belongs to a different namespace ${entry.cursor.ns}`,
      )
    checkSession(id, entry.session, session?.key ?? null)
    if (entry.inUse) throw new CommandError('CursorInUse', `cursor id ${id} is already in use`)
    entry.inUse = true
    return { cursor: entry.cursor, batchSize: entry.batchSize }
  }

  /** Ends a getMore; `gone`: the cursor failed or is exhausted. */
  unpin(id: bigint, gone: boolean): void {
    const entry = this.#entries.get(id)!
    entry.inUse = false
    entry.lastUsedMs = this.#host.context.now()
    if (gone || entry.killed) this.#close(id, entry)
    else entry.cursor.detach()
  }

  /** @returns whether there was one */
  kill(id: bigint): boolean {
    const entry = this.#entries.get(id)
    if (entry === undefined || entry.killed) return false
    if (entry.inUse) entry.killed = true
    else this.#close(id, entry)
    return true
  }

  killOfSession(session: string): void {
    for (const [id, entry] of [...this.#entries]) if (entry.session === session) this.kill(id)
  }

  /** Closes what nobody has used for ten minutes. */
  expire(nowMs: number): void {
    for (const [id, entry] of [...this.#entries]) {
      if (entry.noTimeout || entry.inUse || nowMs - entry.lastUsedMs <= cursorTimeoutMs) continue
      this.timedOutCount++
      this.#close(id, entry)
    }
  }

  #count(condition: (entry: Entry) => boolean): number {
    let count = 0
    for (const entry of this.#entries.values()) if (condition(entry)) count++
    return count
  }

  #close(id: bigint, entry: Entry): void {
    this.#entries.delete(id)
    entry.cursor.kill(this.#host)
  }
}

function checkSession(id: bigint, owner: string | null, asking: string | null): void {
  if (owner === asking) return
  const text = (key: string) => Buffer.from(key, 'latin1').toString('hex')
  if (owner === null)
    throw new CommandError(50736, `Cannot run getMore on cursor ${id}, which was not created in a session, in session ${text(asking!)}`)
  if (asking === null)
    throw new CommandError(50737, `Cannot run getMore on cursor ${id}, which was created in session ${text(owner)}, without an lsid`)
  throw new CommandError(
    50738,
    `Cannot run getMore on cursor ${id}, which was created in session ${text(owner)}, in session ${text(asking)}`,
  )
}
