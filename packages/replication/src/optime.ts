/** Positions in the oplog. Server: optime.h. */

export type Timestamp = readonly [seconds: number, increment: number]

/** Within one oplog `ts` alone ascends. Positions of different oplogs compare by term first. */
export interface OpTime {
  readonly ts: Timestamp
  readonly term: number
}

/** An optime with the time of day at which its primary wrote it. */
export interface TimedOpTime {
  readonly optime: OpTime
  readonly wallMs: number
}

/** Term of an entry or member before its first election. */
export const uninitializedTerm = -1

/** Term of a set that was just initiated. */
export const initialTerm = 0

/** Before the first entry. */
export const nullOpTime: OpTime = { ts: [0, 0], term: uninitializedTerm }

export const nullTimedOpTime: TimedOpTime = { optime: nullOpTime, wallMs: 0 }

/** After every possible entry. */
export const endOfTime: OpTime = { ts: [0xffffffff, 0xffffffff], term: Number.MAX_SAFE_INTEGER }

export function compareTimestamps(a: Timestamp, b: Timestamp): number {
  return a[0] === b[0] ? a[1] - b[1] : a[0] - b[0]
}

export function compareOpTimes(a: OpTime, b: OpTime): number {
  return a.term === b.term ? compareTimestamps(a.ts, b.ts) : a.term - b.term
}

export const isNullOpTime = (optime: OpTime): boolean => optime.ts[0] === 0 && optime.ts[1] === 0

export const laterOpTime = (a: OpTime, b: OpTime): OpTime => (compareOpTimes(a, b) < 0 ? b : a)

/** `{ ts: Timestamp(7, 1), t: 2 }`, as the server prints it in replies and logs. */
export const opTimeText = ({ ts, term }: OpTime): string => `{ ts: Timestamp(${ts[0]}, ${ts[1]}), t: ${term} }`
