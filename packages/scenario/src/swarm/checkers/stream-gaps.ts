/**
 * A change stream that is opened after a shard has left lacks what only the oplog of this shard has
 * (manual: tutorial/remove-shards-from-cluster, "Change Streams").
 */
import type { Document, Timestamp } from '@shardlab/bson'

/** A shard has left the cluster, at a time between the two. */
export interface Departure {
  readonly sinceMs: number
  /** In cluster time; undefined before 4.0. */
  readonly until: Timestamp | undefined
}

export interface StreamOpening {
  readonly atMs: number
  /** Of the last event read before. */
  readonly token: Document
}

export function mayLackEvents(openings: readonly StreamOpening[], departures: readonly Departure[]): boolean {
  return openings.some(({ atMs, token }) =>
    departures.some(({ sinceMs, until }) => atMs >= sinceMs && (until === undefined || secondsOf(token) <= until.t)),
  )
}

/** Of the cluster time at the beginning of the token, after a byte that names the type. */
function secondsOf(token: Document): number {
  return Number.parseInt((token['_data'] as string).slice(2, 10), 16)
}
