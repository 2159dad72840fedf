import type {
  Effect,
  OpTime,
  ReplicationCoordinator,
  ReplicationRules,
  TimedOpTime,
  VoteReply,
  VoteRequest,
} from '@shardlab/replication'
import type { Random } from './random.js'
import type { Schedule } from './schedule.js'

export type Defect =
  | 'vote-twice'
  | 'acknowledge-early'
  | 'skip-rollback'
  | 'elect-behind'
  | 'commit-old-term'
  | 'unsafe-reconfig'

/** A member as the network sees it. */
export interface Peer {
  readonly host: string
  /** Null: crashed. */
  readonly coordinator: ReplicationCoordinator | null
  readonly oplog: readonly TimedOpTime[]
  readonly isArbiter: boolean
  vote(request: VoteRequest, reply: (reply: VoteReply) => void): void
  later(delayMs: number, run: (coordinator: ReplicationCoordinator) => void): void
  carryOut(): void
}

export interface Handlers<R> {
  readonly replied: (coordinator: ReplicationCoordinator, reply: R) => void
  readonly failed: (coordinator: ReplicationCoordinator) => void
}

/** What surrounds a member: time, network, and the checks of what it does. */
export interface World {
  readonly name: string
  readonly nowMs: number
  readonly schedule: Schedule
  readonly random: Random
  readonly rules: ReplicationRules
  readonly defects: ReadonlySet<Defect>
  member(host: string): Peer
  /** One way; lost without a trace if the receiver cannot be reached. */
  send(from: Peer, to: Peer, deliver: (coordinator: ReplicationCoordinator) => void): void
  request<R>(
    from: Peer,
    to: Peer,
    timeoutMs: number,
    handlers: Handlers<R> & { readonly answer: (coordinator: ReplicationCoordinator) => R },
  ): void
  requestAsync<R>(
    from: Peer,
    to: Peer,
    timeoutMs: number,
    handlers: Handlers<R> & { readonly answer: (member: Peer, reply: (reply: R) => void) => void },
  ): void
  trace(member: Peer, effect: Effect): void
  elected(member: Peer, term: number): void
  committed(member: Peer, optime: OpTime): void
  rolledBack(member: Peer, count: number): void
  checkMember(member: Peer): void
}
