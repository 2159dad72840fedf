import type { CommandError } from '@shardlab/bson'
import { SetCommands } from './commands/set-commands.js'
import type { NewestSeconds } from './commands/step-down.js'
import { learnCommitPoint } from './commit/commit-point.js'
import { decideWriteConcern, type WriteConcern } from './commit/write-concern-decision.js'
import { storeConfig } from './config/adopt-config.js'
import { configStored, installConfig } from './config/install-config.js'
import { countedMember } from './config/new-members.js'
import { configCommitment, type ConfigCommitment } from './config/reconfig.js'
import type { ReplicaSetConfig } from './config/replica-set-config.js'
import type { Effect, ElectionReason, StepDownReason } from './effects.js'
import { cancelElection, runForElection, voteFailed, voteReplied, voteStored } from './elections/election.js'
import { recordNewTerm } from './elections/election-metrics.js'
import type { CandidateMetrics } from './elections/metrics-types.js'
import { answerVoteRequest } from './elections/vote.js'
import { answerHeartbeat, type HeartbeatRefusal } from './heartbeats/answer.js'
import { heartbeatFailed, heartbeatReplied, sendHeartbeat } from './heartbeats/send.js'
import { checkSilence } from './heartbeats/silence.js'
import type { FollowerMode, MemberState } from './members/member-state.js'
import type {
  HeartbeatReply,
  HeartbeatRequest,
  PositionReport,
  SourceMetadata,
  Vote,
  VoteReply,
  VoteRequest,
} from './messages.js'
import { compareOpTimes, type OpTime, type TimedOpTime, type Timestamp } from './optime.js'
import { drained, endCatchUp, firstEntryWritten, resumePrimary } from './primary/catch-up.js'
import { checkPeriodicNoop, noopWritten } from './primary/periodic-noop.js'
import { steppedDown, tryStepDown } from './primary/step-down.js'
import { announceState, isAlone } from './state/member-state-change.js'
import { ProtocolState, type CoordinatorOptions } from './state/protocol-state.js'
import { keepAlive, reportPosition } from './sync/keep-alive.js'
import {
  ownProgress,
  positionReport,
  positionsReceived,
  readerRequested,
  rolledBackTo,
  sourceReplied,
} from './sync/positions.js'
import { chooseSyncSource, denySyncSource, shouldChangeSyncSource } from './sync/sync-source.js'

/** What a member finds on its disk when it starts. */
export interface StoredState {
  /** Null: none was ever installed. */
  readonly config: ReplicaSetConfig | null
  /** Null: it never voted. */
  readonly vote: Vote | null
  /** The last entry of its oplog. */
  readonly last: TimedOpTime
  /** Its term is not lower. */
  readonly termMin?: number
}

/** What a copy of a primary that is alone in its set continues with. */
export interface PrimaryOfOne {
  readonly config: ReplicaSetConfig
  readonly term: number
  readonly electionTime: Timestamp | null
  readonly candidateMetrics: CandidateMetrics | null
}

/**
 * The protocol of one member. Every call happens at a time and may leave effects for the host (see
 * `takeEffects`); each effect names the call that reports its completion. Nothing here waits.
 */
export class ReplicationCoordinator {
  readonly state: ProtocolState
  readonly commands: SetCommands

  constructor(options: CoordinatorOptions) {
    this.state = new ProtocolState(options)
    this.commands = new SetCommands(this.state)
  }

  /** First call. */
  start(nowMs: number, stored: StoredState): void {
    const state = this.state.at(nowMs)
    if (stored.vote !== null) state.lastVote = stored.vote
    state.self.applied = stored.last
    state.self.durable = stored.last
    state.term = Math.max(stored.vote?.term ?? state.term, stored.last.optime.term, stored.termMin ?? state.term)
    if (stored.config !== null) installConfig(state, stored.config)
    if (!isAlone(state)) keepAlive(state)
  }

  /** For a copy of a primary that is alone in its set; null: this member is not such a primary. */
  exportPrimary(): PrimaryOfOne | null {
    const { config, term, electionTime, candidateMetrics } = this.state
    return this.isAlone && this.isWritablePrimary ? { config: config!, term, electionTime, candidateMetrics } : null
  }

  /** First call in a copy, instead of `start`: it is primary without an election. */
  resume(nowMs: number, { config, term, electionTime, candidateMetrics }: PrimaryOfOne): void {
    resumePrimary(this.state.at(nowMs), config, term)
    this.state.electionTime = electionTime
    this.state.candidateMetrics = candidateMetrics === null ? null : { ...candidateMetrics }
  }

  /** Whether this is the only member of its set. */
  get isAlone(): boolean {
    return isAlone(this.state)
  }

  get newestSeconds(): NewestSeconds {
    const { self, peers } = this.state
    return { own: self.applied.optime.ts[0], closest: Math.max(0, ...peers.map(({ applied }) => applied.optime.ts[0])) }
  }

  /** Effects since the last call, in order. */
  takeEffects(): Effect[] {
    const { effects } = this.state
    return effects.length === 0 ? effects : effects.splice(0)
  }

  /** Null: nothing is scheduled. */
  get nextTimerMs(): number | null {
    return this.state.timers.next()?.atMs ?? null
  }

  /** Does everything that is due. */
  tick(nowMs: number): void {
    const state = this.state.at(nowMs)
    for (let due = state.timers.next(); due !== null && due.atMs <= nowMs; due = state.timers.next()) {
      state.timers.cancel(due.name)
      this.#run(due.name)
    }
  }

  #run(timer: string): void {
    const { state } = this
    if (timer.startsWith('heartbeat ')) sendHeartbeat(state, timer.slice('heartbeat '.length))
    else if (timer === 'silence') checkSilence(state)
    else if (timer === 'election') runForElection(state, 'electionTimeout')
    else if (timer === 'priority-takeover') runForElection(state, 'priorityTakeover')
    else if (timer === 'catch-up-takeover') runForElection(state, 'catchupTakeover')
    else if (timer === 'single-node-election') runForElection(state, 'singleNodePromptElection')
    else if (timer === 'catch-up') endCatchUp(state)
    else if (timer === 'step-down') tryStepDown(state)
    else if (timer === 'keep-alive') reportPosition(state)
    else if (timer === 'periodic-noop') checkPeriodicNoop(state)
  }

  get memberState(): MemberState {
    return this.state.memberState
  }

  get isWritablePrimary(): boolean {
    return this.state.leaderMode === 'writable'
  }

  // Messages of other members.

  answerHeartbeat(nowMs: number, request: HeartbeatRequest): HeartbeatReply | HeartbeatRefusal {
    return answerHeartbeat(this.state.at(nowMs), request)
  }

  /**
   * Store `state.lastVote` before a granted vote of a real election is sent.
   * @returns null: ask again after `steppedDown`
   */
  answerVoteRequest(nowMs: number, request: VoteRequest): VoteReply | null {
    return answerVoteRequest(this.state.at(nowMs), request)
  }

  heartbeatReplied(nowMs: number, id: number, from: string, reply: HeartbeatReply): void {
    heartbeatReplied(this.state.at(nowMs), id, from, reply)
  }

  heartbeatFailed(nowMs: number, id: number, from: string, message: string): void {
    heartbeatFailed(this.state.at(nowMs), id, from, message)
  }

  voteReplied(nowMs: number, id: number, reply: VoteReply): void {
    voteReplied(this.state.at(nowMs), id, reply)
  }

  voteFailed(nowMs: number, id: number, message: string): void {
    voteFailed(this.state.at(nowMs), id, message)
  }

  /** @returns false: NodeNotFound, or this member is in no configuration */
  positionsReceived(nowMs: number, report: PositionReport): boolean {
    return positionsReceived(this.state.at(nowMs), report)
  }

  /** A member reads the oplog of this one; its request has its term. */
  readerRequested(nowMs: number, term: number): void {
    readerRequested(this.state.at(nowMs), term)
  }

  sourceReplied(nowMs: number, metadata: SourceMetadata): void {
    sourceReplied(this.state.at(nowMs), metadata)
  }

  // Completions of effects.

  voteStored(nowMs: number, term: number): void {
    voteStored(this.state.at(nowMs), term)
  }

  configStored(nowMs: number): void {
    configStored(this.state.at(nowMs))
  }

  drained(nowMs: number, term: number): void {
    drained(this.state.at(nowMs), term)
  }

  firstEntryWritten(nowMs: number, optime: OpTime): void {
    firstEntryWritten(this.state.at(nowMs), optime)
  }

  noopWritten(nowMs: number): void {
    noopWritten(this.state.at(nowMs))
  }

  steppedDown(nowMs: number, reason: StepDownReason): void {
    const state = this.state.at(nowMs)
    steppedDown(state, reason)
    const config = state.pendingConfig
    if (config === null || state.isPrimary) return
    state.pendingConfig = null
    installConfig(state, config)
  }

  // Facts about this member.

  progress(nowMs: number, applied: TimedOpTime, durable: TimedOpTime): void {
    ownProgress(this.state.at(nowMs), applied, durable)
  }

  rolledBackTo(nowMs: number, applied: TimedOpTime): void {
    rolledBackTo(this.state.at(nowMs), applied)
  }

  /** This member has applied the first entry of a term as a secondary; its time of day. */
  newTermApplied(nowMs: number, term: number, startMs: number): void {
    recordNewTerm(this.state.at(nowMs), term, startMs)
  }

  /** Entries that a new primary has fetched from others. */
  countCatchUpOps(count: number): void {
    const { catchUp, candidateMetrics } = this.state
    if (catchUp !== null && candidateMetrics !== null)
      candidateMetrics.catchUpOps = (candidateMetrics.catchUpOps ?? 0) + count
  }

  /** @throws Error on a primary */
  setFollowerMode(nowMs: number, mode: FollowerMode): void {
    const state = this.state.at(nowMs)
    if (state.isPrimary) throw new Error(`a primary has no follower mode: ${mode}`)
    state.followerMode = mode
    announceState(state)
  }

  // Commands.

  /** A configuration that was checked: initiation, or a reconfiguration by command. */
  changeConfig(nowMs: number, config: ReplicaSetConfig): void {
    cancelElection(this.state.at(nowMs))
    storeConfig(this.state, config)
  }

  /** The members of the configuration have other addresses: this is a copy. */
  relocated(nowMs: number, config: ReplicaSetConfig): void {
    cancelElection(this.state.at(nowMs))
    installConfig(this.state, config)
  }

  /** After `count-new-member`, for `changeConfig`. @returns null: not now, the effect repeats */
  countedMember(nowMs: number, memberId: number): ReplicaSetConfig | null {
    return countedMember(this.state.at(nowMs), memberId)
  }

  /** Whether the current configuration may be left. */
  configCommitment(): ConfigCommitment {
    return configCommitment(this.state)
  }

  /** An election for a reason of the protocol. @returns reasons why not; empty: it began */
  stepUp(nowMs: number, reason: ElectionReason): readonly string[] {
    return runForElection(this.state.at(nowMs), reason)
  }

  get isCandidate(): boolean {
    return this.state.candidacy !== null
  }

  // Fetching.

  chooseSyncSource(nowMs: number, lastFetched: OpTime): string | null {
    return chooseSyncSource(this.state.at(nowMs), lastFetched)
  }

  denySyncSource(nowMs: number, host: string, untilMs: number): void {
    denySyncSource(this.state.at(nowMs), host, untilMs)
  }

  shouldChangeSyncSource(nowMs: number, lastFetched: OpTime, metadata: SourceMetadata): boolean {
    return shouldChangeSyncSource(this.state.at(nowMs), lastFetched, metadata)
  }

  sourceMetadata(): SourceMetadata {
    const { term, committed, self, isPrimary, primaryIndex, syncSource } = this.state
    return { term, committed, lastApplied: self.applied.optime, isPrimary, primaryIndex, syncingTo: syncSource }
  }

  positionReport(): PositionReport {
    return positionReport(this.state)
  }

  // Concerns.

  get committed(): TimedOpTime {
    return this.state.committed
  }

  learnCommitPoint(nowMs: number, committed: TimedOpTime): void {
    learnCommitPoint(this.state.at(nowMs), committed, false)
  }

  isCommitted(target: OpTime): boolean {
    return compareOpTimes(this.state.committed.optime, target) >= 0
  }

  /** Ask again after progress of any member, a new configuration, or a step-down. */
  decideWriteConcern(target: OpTime, concern: WriteConcern): 'satisfied' | 'waiting' | CommandError {
    return decideWriteConcern(this.state, target, concern)
  }
}
