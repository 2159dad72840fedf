/**
 * What members send each other, without the form of the commands. Server:
 * repl_set_heartbeat_args_v1.cpp, repl_set_heartbeat_response.cpp, repl_set_request_votes_args.cpp,
 * update_position_args.cpp, repl_set_metadata.cpp, oplog_query_metadata.cpp.
 */
import type { ConfigVersion, ReplicaSetConfig } from './config/replica-set-config.js'
import type { MemberState } from './members/member-state.js'
import type { OpTime, TimedOpTime, Timestamp } from './optime.js'

export interface HeartbeatRequest {
  readonly setName: string
  readonly config: ConfigVersion
  readonly term: number
  /** Null: the sender is not in its own configuration. */
  readonly from: { readonly id: number; readonly host: string } | null
  /** Null: the sender knows no primary. */
  readonly primaryId: number | null
}

export interface HeartbeatReply {
  readonly setName: string
  readonly state: MemberState
  readonly term: number
  readonly config: ConfigVersion
  /** Present if the sender of the request has an older one. */
  readonly newerConfig: ReplicaSetConfig | null
  readonly primaryId: number | null
  readonly syncingTo: string | null
  /** Of a primary. */
  readonly electionTime: Timestamp | null
  readonly electable: boolean
  /** Null during initial sync: the member does not count for writes. */
  readonly applied: TimedOpTime
  readonly durable: TimedOpTime
  readonly committed: TimedOpTime
}

export interface VoteRequest {
  readonly setName: string
  /** Asks only whether the vote would be granted. */
  readonly dryRun: boolean
  readonly term: number
  readonly candidateIndex: number
  readonly config: ConfigVersion
  readonly lastApplied: OpTime
}

export interface VoteReply {
  readonly term: number
  readonly granted: boolean
  /** Why not. Empty if granted. */
  readonly reason: string
}

/** The vote that a member must remember over a crash: at most one in each term. */
export interface Vote {
  readonly term: number
  readonly candidateIndex: number
}

/** How far one member is, as forwarded along the chain of sync sources. */
export interface MemberPosition {
  readonly memberId: number
  readonly configVersion: number
  readonly applied: TimedOpTime
  readonly durable: TimedOpTime
}

/**
 * To the sync source. The term comes first: a primary that a newer one has replaced must not count
 * positions of members that elected the newer one.
 */
export interface PositionReport {
  readonly term: number
  readonly positions: readonly MemberPosition[]
}

/** What a sync source sends with each batch of its oplog. */
export interface SourceMetadata {
  readonly term: number
  readonly committed: TimedOpTime
  readonly lastApplied: OpTime
  readonly isPrimary: boolean
  /** -1: it knows no primary. */
  readonly primaryIndex: number
  /** Null: the source itself has no source. */
  readonly syncingTo: string | null
}
