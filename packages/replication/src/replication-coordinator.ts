import { learnCommitPoint } from './commit/commit-point.js'
import {
  dataMemberCount,
  haveMembersReached,
  haveTagsReached,
  isModeSatisfied,
  type TagMode,
} from './commit/write-concern.js'
import { storeConfig } from './config/adopt-config.js'
import { configStored, installConfig } from './config/install-config.js'
import { configCommitment, reconfigFault, type ConfigCommitment } from './config/reconfig.js'
import type { ReplicaSetConfig } from './config/replica-set-config.js'
import type { Effect, ElectionReason, StepDownReason } from './effects.js'
import { runForElection, voteFailed, voteReplied, voteStored } from './elections/election.js'
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
import { compareOpTimes, type OpTime, type TimedOpTime } from './optime.js'
import { drained, endCatchUp, firstEntryWritten } from './primary/catch-up.js'
import { attemptStepDown, steppedDown, tryStepDown, type StepDownRequest } from './primary/step-down.js'
import { announceState, isAlone } from './state/member-state-change.js'
import { ProtocolState, type CoordinatorOptions } from './state/protocol-state.js'
import {
  keepAlive,
  ownProgress,
  positionReport,
  positionsReceived,
  readerRequested,
  rolledBackTo,
  sourceReplied,
} from './sync/positions.js'
import { chooseSyncSource, denySyncSource, requestSyncSource, shouldChangeSyncSource } from './sync/sync-source.js'
import { helloFacts, type HelloFacts } from './status/hello.js'

/** What a member finds on its disk when it starts. */
export interface StoredState {
  /** Null: none was ever installed. */
  readonly config: ReplicaSetConfig | null
  /** Null: it never voted. */
  readonly vote: Vote | null
  /** The last entry of its oplog. */
  readonly last: TimedOpTime
}

/**
 * The protocol of one member. Every call happens at a time and may leave effects for the host (see
 * `takeEffects`); each effect names the call that reports its completion. Nothing here waits.
 */
export class ReplicationCoordinator {
  readonly state: ProtocolState

  constructor(options: CoordinatorOptions) {
    this.state = new ProtocolState(options)
  }

  /** First call. */
  start(nowMs: number, stored: StoredState): void {
    const state = this.#at(nowMs)
    if (stored.vote !== null) state.lastVote = stored.vote
    state.self.applied = stored.last
    state.self.durable = stored.last
    state.term = Math.max(stored.vote?.term ?? state.term, stored.last.optime.term)
    if (stored.config !== null) installConfig(state, stored.config)
    keepAlive(state)
  }

  /** Effects since the last call, in order. */
  takeEffects(): Effect[] {
    return this.state.effects.splice(0)
  }

  /** Null: nothing is scheduled. */
  get nextTimerMs(): number | null {
    return this.state.timers.next()?.atMs ?? null
  }

  /** Does everything that is due. */
  tick(nowMs: number): void {
    const state = this.#at(nowMs)
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
    else if (timer === 'keep-alive') keepAlive(state)
  }

  get memberState(): MemberState {
    return this.state.memberState
  }

  get isWritablePrimary(): boolean {
    return this.state.leaderMode === 'writable'
  }

  // Messages of other members.

  answerHeartbeat(nowMs: number, request: HeartbeatRequest): HeartbeatReply | HeartbeatRefusal {
    return answerHeartbeat(this.#at(nowMs), request)
  }

  /**
   * Store `state.lastVote` before a granted vote of a real election is sent.
   * @returns null: ask again after `steppedDown`
   */
  answerVoteRequest(nowMs: number, request: VoteRequest): VoteReply | null {
    return answerVoteRequest(this.#at(nowMs), request)
  }

  heartbeatReplied(nowMs: number, id: number, from: string, reply: HeartbeatReply): void {
    heartbeatReplied(this.#at(nowMs), id, from, reply)
  }

  heartbeatFailed(nowMs: number, id: number, from: string, message: string): void {
    heartbeatFailed(this.#at(nowMs), id, from, message)
  }

  voteReplied(nowMs: number, id: number, reply: VoteReply): void {
    voteReplied(this.#at(nowMs), id, reply)
  }

  voteFailed(nowMs: number, id: number, message: string): void {
    voteFailed(this.#at(nowMs), id, message)
  }

  /** @returns false: NodeNotFound, or this member is in no configuration */
  positionsReceived(nowMs: number, report: PositionReport): boolean {
    return positionsReceived(this.#at(nowMs), report)
  }

  /** A member reads the oplog of this one; its request has its term. */
  readerRequested(nowMs: number, term: number): void {
    readerRequested(this.#at(nowMs), term)
  }

  sourceReplied(nowMs: number, metadata: SourceMetadata): void {
    sourceReplied(this.#at(nowMs), metadata)
  }

  // Completions of effects.

  voteStored(nowMs: number, term: number): void {
    voteStored(this.#at(nowMs), term)
  }

  configStored(nowMs: number): void {
    configStored(this.#at(nowMs))
  }

  drained(nowMs: number, term: number): void {
    drained(this.#at(nowMs), term)
  }

  firstEntryWritten(nowMs: number, optime: OpTime): void {
    firstEntryWritten(this.#at(nowMs), optime)
  }

  steppedDown(nowMs: number, reason: StepDownReason): void {
    const state = this.#at(nowMs)
    steppedDown(state, reason)
    const config = state.pendingConfig
    if (config === null || state.isPrimary) return
    state.pendingConfig = null
    installConfig(state, config)
  }

  // Facts about this member.

  progress(nowMs: number, applied: TimedOpTime, durable: TimedOpTime): void {
    ownProgress(this.#at(nowMs), applied, durable)
  }

  rolledBackTo(nowMs: number, applied: TimedOpTime): void {
    rolledBackTo(this.#at(nowMs), applied)
  }

  /** @throws Error on a primary */
  setFollowerMode(nowMs: number, mode: FollowerMode): void {
    const state = this.#at(nowMs)
    if (state.isPrimary) throw new Error(`a primary has no follower mode: ${mode}`)
    state.followerMode = mode
    announceState(state)
  }

  // Commands.

  /** A configuration that was checked: initiation, or a reconfiguration by command. */
  changeConfig(nowMs: number, config: ReplicaSetConfig): void {
    storeConfig(this.#at(nowMs), config)
  }

  /** Whether the current configuration may be left. */
  configCommitment(): ConfigCommitment {
    return configCommitment(this.state)
  }

  /** @returns why `next` may not follow the current one, in the server's words; null: it may */
  reconfigFault(next: ReplicaSetConfig, force: boolean): string | null {
    return reconfigFault(this.state.config!, next, force)
  }

  stepDown(nowMs: number, request: StepDownRequest): 'not-primary' | 'in-progress' | null {
    return attemptStepDown(this.#at(nowMs), request)
  }

  /** @returns reasons why not; empty: the election began */
  stepUp(nowMs: number, reason: ElectionReason): readonly string[] {
    return runForElection(this.#at(nowMs), reason)
  }

  /**
   * @param untilMs now or before: unfreeze
   * @returns false: refused on primaries and candidates
   */
  freeze(nowMs: number, untilMs: number): boolean {
    const state = this.#at(nowMs)
    if (state.isPrimary || state.candidacy !== null) return false
    if (untilMs > nowMs) state.frozenUntilMs = Math.max(state.frozenUntilMs, untilMs)
    else {
      state.frozenUntilMs = nowMs
      if (isAlone(state)) state.timers.set('single-node-election', nowMs)
    }
    return true
  }

  /** @returns false: the counter would be below zero, or this member is primary */
  maintenance(nowMs: number, on: boolean): boolean {
    const state = this.#at(nowMs)
    if (state.isPrimary || (!on && state.maintenanceCalls === 0)) return false
    state.maintenanceCalls += on ? 1 : -1
    announceState(state)
    return true
  }

  syncFrom(nowMs: number, host: string): ReturnType<typeof requestSyncSource> {
    return requestSyncSource(this.#at(nowMs), host)
  }

  // Fetching.

  chooseSyncSource(nowMs: number, lastFetched: OpTime): string | null {
    return chooseSyncSource(this.#at(nowMs), lastFetched)
  }

  denySyncSource(nowMs: number, host: string, untilMs: number): void {
    denySyncSource(this.#at(nowMs), host, untilMs)
  }

  shouldChangeSyncSource(nowMs: number, lastFetched: OpTime, metadata: SourceMetadata): boolean {
    return shouldChangeSyncSource(this.#at(nowMs), lastFetched, metadata)
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
    learnCommitPoint(this.#at(nowMs), committed, false)
  }

  haveMembersReached(target: OpTime, count: number, journaled: boolean): boolean {
    return haveMembersReached(this.state, target, count, journaled)
  }

  haveTagsReached(target: OpTime, mode: TagMode, journaled: boolean): boolean {
    return haveTagsReached(this.state, target, mode, journaled)
  }

  isCommitted(target: OpTime): boolean {
    return compareOpTimes(this.state.committed.optime, target) >= 0
  }

  /** Whether the members of the set could ever satisfy it. */
  canSatisfy(concern: number | TagMode): boolean {
    if (typeof concern === 'number') return concern <= dataMemberCount(this.state)
    return isModeSatisfied(this.state.config?.members ?? [], concern)
  }

  hello(): HelloFacts {
    return helloFacts(this.state)
  }

  #at(nowMs: number): ProtocolState {
    this.state.nowMs = Math.max(this.state.nowMs, nowMs)
    return this.state
  }
}
