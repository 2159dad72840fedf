/** Server: operation_context.cpp, clientcursor.h. Manual: reference/method/cursor.maxTimeMS. */
import type { CommandArguments } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'

/**
 * 0: no limit. A getMore has none: its maxTimeMS is the time to wait for documents.
 * @throws CommandError 2 BadValue
 */
export function maxTimeMsOf(args: CommandArguments): number {
  const value = args.number('maxTimeMS')
  if (value === undefined) return 0
  if (!Number.isInteger(value)) throw new CommandError('BadValue', 'maxTimeMS has non-integral value')
  if (value < 0 || value > 0x7fff_ffff)
    throw new CommandError('BadValue', `${value} value for maxTimeMS is out of range [0, 2147483647]`)
  return args.command === 'getMore' ? 0 : value
}

/** For a command, then for its cursor. Paused between two batches of the cursor. */
export class TimeLimit {
  readonly #now: () => number
  #leftMs: number
  /** Null: paused. */
  #deadlineMs: number | null

  constructor(now: () => number, startedAtMs: number, maxTimeMs: number) {
    this.#now = now
    this.#leftMs = maxTimeMs
    this.#deadlineMs = startedAtMs + maxTimeMs
  }

  pause(): void {
    if (this.#deadlineMs === null) return
    this.#leftMs = this.#deadlineMs - this.#now()
    this.#deadlineMs = null
  }

  resume(): void {
    this.#deadlineMs ??= this.#now() + this.#leftMs
  }

  /** Negative when the time is over. */
  get leftMs(): number {
    return this.#deadlineMs === null ? this.#leftMs : this.#deadlineMs - this.#now()
  }

  /** @throws CommandError 50 MaxTimeMSExpired */
  check(): void {
    if (this.#deadlineMs !== null && this.#now() >= this.#deadlineMs) throw maxTimeExpired()
  }
}

export function maxTimeExpired(): CommandError {
  return new CommandError('MaxTimeMSExpired', 'operation exceeded time limit')
}
