/**
 * One migration at a time: a shard donates a range or receives one, never both.
 * Server: active_migrations_registry.cpp.
 */
import type { RequestOf } from '@shardlab/actor'
import { compareDocuments, CommandError } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import { formatRange, type Behaviours } from '@shardlab/sharding'
import type { KeyRange } from '../ranges/key-range.js'

type MoveRequest = RequestOf<'shard.move-range'>

interface OutgoingMigration {
  readonly request: MoveRequest
  readonly done: Promise<void>
}

interface IncomingMigration {
  readonly ns: string
  readonly range: KeyRange
  readonly from: string
}

export class ActiveMigrations {
  readonly #behaviours: Behaviours
  #outgoing: OutgoingMigration | null = null
  #incoming: IncomingMigration | null = null
  /** By namespace: the running split or merge; the promise never rejects. */
  readonly #chunkChanges = new Map<string, Promise<void>>()

  constructor(behaviours: Behaviours) {
    this.#behaviours = behaviours
  }

  /** The namespace; null: none. */
  get donating(): string | null {
    return this.#outgoing?.request.ns ?? null
  }

  /** Phrases for messages, such as `moves a range of db.c to shard02`. */
  names(): string[] {
    const outgoing =
      this.#outgoing === null ? [] : [`moves a range of ${this.#outgoing.request.ns} to ${this.#outgoing.request.to}`]
    const incoming =
      this.#incoming === null ? [] : [`receives a range of ${this.#incoming.ns} from ${this.#incoming.from}`]
    return [...outgoing, ...incoming]
  }

  /**
   * Waits for splits and merges of the collection; joins a running donation with an equal request.
   * @throws CommandError 117 ConflictingOperationInProgress; errors of the work
   */
  async donate(request: MoveRequest, work: () => Promise<void>): Promise<void> {
    for (
      let change = this.#chunkChanges.get(request.ns);
      change !== undefined;
      change = this.#chunkChanges.get(request.ns)
    )
      await change
    if (this.#incoming !== null) throw receiving(this.#behaviours, this.#incoming)
    if (this.#outgoing !== null) {
      if (!isSame(this.#outgoing.request, request)) throw donating(this.#behaviours, this.#outgoing.request)
      return this.#outgoing.done
    }
    const done = this.#run(work)
    this.#outgoing = { request, done }
    return done
  }

  async #run(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } finally {
      this.#outgoing = null
    }
  }

  async changeChunks<T>(ns: string, work: () => Promise<T>): Promise<T> {
    const before = () => (this.donating === ns ? this.#outgoing!.done.catch(() => {}) : this.#chunkChanges.get(ns))
    for (let running = before(); running !== undefined; running = before()) await running
    const result = work()
    const ended = result.then(
      () => {},
      () => {},
    )
    this.#chunkChanges.set(ns, ended)
    try {
      return await result
    } finally {
      this.#chunkChanges.delete(ns)
    }
  }

  /**
   * @returns a function to call when receiving has ended
   * @throws CommandError 117 ConflictingOperationInProgress
   */
  receive(incoming: IncomingMigration): () => void {
    if (this.#incoming !== null) throw receiving(this.#behaviours, this.#incoming)
    if (this.#outgoing !== null) throw donating(this.#behaviours, this.#outgoing.request)
    this.#incoming = incoming
    return () => {
      if (this.#incoming === incoming) this.#incoming = null
    }
  }
}

function isSame(a: MoveRequest, b: MoveRequest): boolean {
  const sameBound = (x: Uint8Array | null, y: Uint8Array | null) =>
    x === null || y === null ? x === y : compareDocuments(x, y) === 0
  return (
    a.ns === b.ns &&
    a.to === b.to &&
    sameBound(a.min, b.min) &&
    sameBound(a.max, b.max) &&
    a.forceJumbo === b.forceJumbo &&
    a.waitForDelete === b.waitForDelete &&
    sameBound(a.secondaryThrottle, b.secondaryThrottle) &&
    a.maxChunkSizeBytes === b.maxChunkSizeBytes
  )
}

function donating(
  { migrationConflict }: Behaviours,
  { ns, min, max, chunkMin, chunkMax, to }: MoveRequest,
): CommandError {
  if (migrationConflict !== 'range')
    return conflict(
      migrationConflict,
      `donating chunk ${formatRange(min ?? chunkMin, max ?? chunkMax)} for namespace ${ns} to ${to}`,
    )
  const bounds = [
    min === null ? [] : [`min: ${formatDocument(min)}`],
    max === null ? [] : [`max: ${formatDocument(max)}`],
  ].flat()
  return conflict(migrationConflict, `donating range '${bounds.join(' - ')}' for namespace ${ns} to shard ${to}`)
}

function receiving({ migrationConflict }: Behaviours, { ns, range, from }: IncomingMigration): CommandError {
  return conflict(
    migrationConflict,
    `receiving chunk ${formatRange(range.min, range.max)} for namespace ${ns} from ${from}`,
  )
}

function conflict(form: Behaviours['migrationConflict'], what: string): CommandError {
  const refused = form === 'migration' ? 'migration' : 'balancer operation'
  return new CommandError(
    'ConflictingOperationInProgress',
    `Unable to start new ${refused} because this shard is currently ${what}`,
  )
}
