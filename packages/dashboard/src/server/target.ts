import type { Batch } from '../stream/readers.js'

/**
 * Of the command `shardlab`, and the server's `balancerStart` and `balancerStop`.
 *
 * - `runCommand` sends `command`, Extended JSON, to the database `db` through a router. It replies
 *   with `error` (null: none), and with `reply` and the `documents` of its cursor, also Extended
 *   JSON.
 * - `advance` moves a manual clock by `durationMs`. `playClock` lets it run at a `speed`, for all
 *   pages; null: it stands still. No command does that, so only the page of the same process can.
 */
export const pageVerbs = [
  'apply',
  'heal',
  'explainBalance',
  'runRound',
  'balancerStart',
  'balancerStop',
  'documents',
  'chunkSizes',
  'runCommand',
  'advance',
  'playClock',
] as const
export type PageVerb = (typeof pageVerbs)[number]

/** A user of the cluster. */
export interface PageLogin {
  readonly user: string
  readonly password: string
  /** The database of the user. */
  readonly source: string
}

/** The cluster that a dashboard shows, in this process or behind a connection string. */
export interface DashboardTarget {
  /** Faults without values, as `shardlab fault --help` shows them. */
  readonly faultForms: readonly string[]
  /** Pages have to log in. */
  readonly needsLogin: boolean
  /**
   * Called for each page.
   * @param login null: pages need none
   * @throws Error with a sentence: the user cannot log in, or may not control the cluster
   */
  enter(login: PageLogin | null): Promise<DashboardAccess>
}

/** What one page may do. */
export interface DashboardAccess {
  /** As of `Readers`. */
  open(): Promise<Batch>
  next(reader: string, after: number, waitMs: number): Promise<Batch>
  close(reader: string): Promise<void>
  /** Runs a command, and resolves with its reply as plain data. @throws Error with a sentence */
  control(verb: PageVerb, fields: PageFields): Promise<object>
  /** The page has gone. */
  end(): void
}

export type PageFields = Readonly<Record<string, unknown>>
