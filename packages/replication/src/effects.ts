import type { ReplicaSetConfig } from './config/replica-set-config.js'
import type { MemberState } from './members/member-state.js'
import type { HeartbeatRequest, Vote, VoteRequest } from './messages.js'
import type { TimedOpTime } from './optime.js'

/** Server: StartElectionReasonEnum. */
export type ElectionReason =
  | 'electionTimeout'
  | 'priorityTakeover'
  | 'stepUpRequest'
  | 'stepUpRequestSkipDryRun'
  | 'catchupTakeover'
  | 'singleNodePromptElection'

export type StepDownReason = 'command' | 'higher-term' | 'lost-majority' | 'reconfig'

/** `too-late`: the step-down period is over, so stepping down has no purpose. */
export type StepDownError = 'not-caught-up' | 'too-late' | 'other-step-down'

/** Work for the host, in this order. The comment names the call that reports its completion. */
export type Effect =
  /** `heartbeatReplied` or `heartbeatFailed`. */
  | {
      readonly kind: 'heartbeat'
      readonly id: number
      readonly to: string
      readonly timeoutMs: number
      readonly request: HeartbeatRequest
    }
  /** `voteReplied` or `voteFailed`. */
  | {
      readonly kind: 'request-vote'
      readonly id: number
      readonly to: string
      readonly timeoutMs: number
      readonly request: VoteRequest
    }
  /** To disk; `voteStored`. */
  | { readonly kind: 'store-vote'; readonly vote: Vote }
  /** To disk; `configStored`. */
  | { readonly kind: 'store-config'; readonly config: ReplicaSetConfig }
  /** The member's own state changed. */
  | { readonly kind: 'state'; readonly from: MemberState; readonly to: MemberState }
  /** Apply everything that was fetched; `drained`. */
  | { readonly kind: 'drain'; readonly term: number }
  /** Append the no-op of the new primary; `firstEntryWritten`. */
  | { readonly kind: 'write-first-entry'; readonly term: number }
  /** Append `{ msg: "periodic noop" }`, unless the term is over; `noopWritten`. */
  | { readonly kind: 'write-noop'; readonly term: number }
  /** Kill operations that hold locks, refuse writes; `steppedDown`. */
  | { readonly kind: 'step-down'; readonly reason: StepDownReason }
  /** A step-down by command failed: the member remains primary. */
  | { readonly kind: 'step-down-failed'; readonly error: StepDownError }
  /** Ask this member to run for election at once. */
  | { readonly kind: 'step-up'; readonly to: string }
  | { readonly kind: 'commit-point'; readonly committed: TimedOpTime }
  /** Positions have changed: report them to the sync source. */
  | { readonly kind: 'report-position' }
  /** The member must select its sync source again. */
  | { readonly kind: 'sync-source-lost' }
  /** This voter has finished its initial sync: count it, by `countedMember`. Repeats until then. */
  | { readonly kind: 'count-new-member'; readonly memberId: number }
  /** The reply of hello has changed. */
  | { readonly kind: 'topology'; readonly counter: number }
  | {
      readonly kind: 'election'
      readonly outcome: 'won' | 'lost'
      readonly reason: ElectionReason
      readonly dryRun: boolean
      readonly term: number
      readonly votes: number
      readonly votesNeeded: number
      /** Refusals with their reasons. */
      readonly refusals: readonly string[]
    }

export type EffectOf<K extends Effect['kind']> = Extract<Effect, { readonly kind: K }>
