import type { ElectionReason } from '../effects.js'
import type { OpTime } from '../optime.js'

/** Of the election that made this member primary. */
export interface CandidateMetrics {
  readonly reason: ElectionReason
  readonly wonAtMs: number
  readonly term: number
  readonly committed: OpTime
  readonly lastSeen: OpTime
  readonly votesNeeded: number
  readonly priority: number
  readonly electionTimeoutMs: number
  /** Null: it knew no primary. */
  readonly priorPrimaryId: number | null
  /** Null: no other member had more entries. */
  targetCatchUp: OpTime | null
  /** Null: no catch-up. */
  catchUpOps: number | null
  newTermStartMs: number | null
  majorityWritesFromMs: number | null
}

/** Of the last election of another member. */
export interface ParticipantMetrics {
  readonly granted: boolean
  readonly term: number
  readonly votedAtMs: number
  readonly candidateId: number
  readonly reason: string
  readonly applied: OpTime
  readonly latest: OpTime
  readonly priority: number
  newTermStartMs: number | null
  newTermAppliedMs: number | null
}
