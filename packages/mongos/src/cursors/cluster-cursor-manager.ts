/** Server: cluster_cursor_manager.cpp, cluster_find.cpp; manual: tutorial/iterate-a-cursor. */
import type { CommandArguments, TimestampPair } from '@shardlab/actor'
import { CommandError, compareDocuments, DocumentWriter, emptyDocument, isEmptyDocument } from '@shardlab/bson'
import {
  checkCursorOwner,
  cursorOwner,
  cursorTimeoutMs,
  DroppedCursors,
  type CursorOwner,
  type TailableMode,
} from '@shardlab/member'
import { formatDocument } from '@shardlab/query'
import type { Operation } from '../dispatch/operation.js'
import type {
  ClusterCursor,
  ClusterCursors,
  IdleClusterCursor,
  MongosInvocation,
  OpenCursorOptions,
  PinnedCursor,
  RoutingHost,
} from '../host/mongos-host.js'

interface Entry {
  readonly cursor: ClusterCursor
  readonly session: string | null
  readonly noTimeout: boolean
  readonly tailable: TailableMode
  readonly api: Uint8Array
  readonly atClusterTime: TimestampPair | null
  readonly comment: Uint8Array | null
  readonly owner: CursorOwner
  /** The rest of the opening command's maxTimeMS; null: no limit. */
  leftMs: number | null
  lastUsedMs: number
  /** A getMore; null: the cursor is idle. */
  user: Operation | null
  killed: boolean
}

export class ClusterCursorManager implements ClusterCursors {
  readonly #entries = new Map<bigint, Entry>()
  readonly #host: RoutingHost
  readonly #newId: () => bigint
  readonly #dropped: DroppedCursors
  timedOutCount = 0

  /** @param newId draws random positive int64 numbers */
  constructor(host: RoutingHost, newId: () => bigint) {
    this.#host = host
    this.#newId = newId
    this.#dropped = new DroppedCursors({
      cursorsMax: host.limits.droppedCursorsMax,
      bytesMax: Number.POSITIVE_INFINITY,
      close: (id) => this.kill(id),
      onLimit: (limit, value) => host.limitReached(limit, value),
    })
  }

  get size(): number {
    return this.#entries.size
  }

  *idle(): Generator<IdleClusterCursor> {
    for (const [id, { cursor, lastUsedMs, noTimeout, tailable, user }] of this.#entries)
      if (user === null) yield { id, ns: cursor.ns, lastUsedMs, noTimeout, tailable }
  }

  get pinnedCount(): number {
    return this.#count((entry) => entry.user !== null)
  }

  get multiTargetCount(): number {
    return this.#count((entry) => entry.cursor.multiTarget)
  }

  open(options: OpenCursorOptions): bigint {
    const { cursor, session, noTimeout, operation } = options
    const { tailable = 'no', api = emptyDocument, atClusterTime = null } = options
    const { cursorsMax } = this.#host.limits
    if (this.#entries.size >= cursorsMax) {
      this.#host.limitReached('cursorsMax', cursorsMax)
      cursor.kill(this.#host)
      throw new CommandError('TemporarilyUnavailable', `too many open cursors: the limit is ${cursorsMax}`)
    }
    let id = this.#newId()
    while (this.#entries.has(id)) id = this.#newId()
    cursor.detach()
    const now = this.#host.context.now()
    this.#entries.set(id, {
      cursor,
      session: session?.key ?? null,
      noTimeout,
      tailable,
      // Copied: a view, as a Buffer's slice is, would keep a slab of 16 KB for each cursor.
      api: isEmptyDocument(api) ? emptyDocument : new Uint8Array(api),
      atClusterTime,
      comment: operation.comment,
      owner: cursorOwner(operation),
      leftMs: leftOf(operation, now),
      lastUsedMs: now,
      user: null,
      killed: false,
    })
    return id
  }

  pin(
    id: bigint,
    ns: string,
    { args, operation, session }: Pick<MongosInvocation, 'args' | 'operation' | 'session'>,
  ): PinnedCursor {
    const entry = this.#entries.get(id)
    if (entry === undefined || entry.killed) throw new CommandError('CursorNotFound', `Cursor not found (id: ${id}).`)
    if (entry.user !== null) throw new CommandError('CursorInUse', `Cursor already in use (id: ${id}).`)
    if (entry.cursor.ns !== ns)
      throw new CommandError(
        'Unauthorized',
        `Requested getMore on namespace '${ns}', but cursor belongs to a different namespace ${entry.cursor.ns}`,
      )
    checkCursorOwner(id, entry.owner, { operation })
    checkSession(id, entry.session, session?.key ?? null)
    checkApi(entry.api, apiParameters(args))
    entry.user = operation
    return entry
  }

  unpin(id: bigint, gone: boolean): void {
    const entry = this.#entries.get(id)!
    const now = this.#host.context.now()
    if (entry.tailable === 'no' && entry.user !== null) entry.leftMs = leftOf(entry.user, now)
    entry.user = null
    entry.lastUsedMs = now
    if (gone || entry.killed) this.#close(id, entry)
    else entry.cursor.detach()
  }

  /** Undefined: no cursor has this id. */
  find(id: bigint): { readonly ns: string; readonly owner: CursorOwner } | undefined {
    const entry = this.#entries.get(id)
    return entry === undefined ? undefined : { ns: entry.cursor.ns, owner: entry.owner }
  }

  kill(id: bigint): boolean {
    const entry = this.#entries.get(id)
    if (entry === undefined || entry.killed) return false
    if (entry.user !== null) {
      entry.killed = true
      entry.user.interrupt(new CommandError('CursorKilled', 'operation was interrupted'))
    } else this.#close(id, entry)
    return true
  }

  collectionsDropped(fits: (ns: string) => boolean): void {
    const ids: bigint[] = []
    for (const [id, { cursor }] of this.#entries) if (fits(cursor.ns)) ids.push(id)
    this.#dropped.add(ids, 0)
  }

  killOfSessions(fits: (session: string) => boolean): void {
    for (const [id, entry] of [...this.#entries]) if (entry.session !== null && fits(entry.session)) this.kill(id)
  }

  expire(nowMs: number, timeoutMs = cursorTimeoutMs): void {
    for (const [id, entry] of [...this.#entries]) {
      if (entry.noTimeout || entry.user !== null || nowMs - entry.lastUsedMs <= timeoutMs) continue
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

export function apiParameters(args: CommandArguments): Uint8Array {
  const writer = new DocumentWriter(64)
  for (const name of ['apiVersion', 'apiStrict', 'apiDeprecationErrors']) {
    const value = args.value(name)
    if (value !== undefined) writer.value(name, value)
  }
  return writer.finish()
}

function checkApi(opened: Uint8Array, used: Uint8Array): void {
  if (isEmptyDocument(used) || compareDocuments(opened, used) === 0) return
  throw new CommandError(
    'APIMismatchError',
    `API parameter mismatch: getMore used params ${formatDocument(used)}, the cursor-creating command used ${formatDocument(opened)}`,
  )
}

/** At least a millisecond; null: no maxTimeMS. */
function leftOf({ deadlineMs }: Operation, nowMs: number): number | null {
  return deadlineMs === null ? null : Math.max(1, deadlineMs - nowMs)
}

function checkSession(id: bigint, owner: string | null, asking: string | null): void {
  if (owner === asking) return
  const text = (key: string) => Buffer.from(key, 'latin1').toString('hex')
  const cannot = `Cannot run getMore on cursor ${id}, which was`
  if (owner === null) throw new CommandError(50799, `${cannot} not created in a session, in session ${text(asking!)}`)
  if (asking === null) throw new CommandError(50800, `${cannot} created in session ${text(owner)}, without an lsid`)
  throw new CommandError(50801, `${cannot} created in session ${text(owner)}, in session ${text(asking)}`)
}
