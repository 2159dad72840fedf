import type { Effect, ElectionReason } from '../effects.js'
import {
  defaultSettings,
  type MemberConfig,
  type ReplicaSetConfig,
  type ReplicaSetSettings,
} from '../config/replica-set-config.js'
import type { CandidateMetrics, ParticipantMetrics } from '../elections/metrics-types.js'
import type { FollowerMode, MemberState } from '../members/member-state.js'
import { MemberView } from '../members/member-view.js'
import type { PingStatistics } from '../members/ping-statistics.js'
import type { Vote } from '../messages.js'
import {
  endOfTime,
  nullOpTime,
  nullTimedOpTime,
  uninitializedTerm,
  type OpTime,
  type TimedOpTime,
  type Timestamp,
} from '../optime.js'
import type { ReplicationRules } from '../rules.js'
import { Timers } from './timers.js'

/** An election that this member runs. */
export interface Candidacy {
  readonly reason: ElectionReason
  readonly dryRun: boolean
  /** Of the votes: in a dry run the current one. */
  readonly term: number
  /** Requests that are not answered yet, by id, with the host. */
  readonly pending: Map<number, string>
  readonly granted: Set<string>
  readonly refusals: string[]
}

/**
 * What a primary may do. Server: TopologyCoordinator::LeaderMode.
 *
 * - `elected`: catches up and drains; no writes yet.
 * - `attempting-step-down`: no writes; back to the mode before if it fails.
 * - `stepping-down`: no way back.
 */
export type LeaderMode = 'none' | 'elected' | 'writable' | 'attempting-step-down' | 'stepping-down'

/** A step-down by command that waits for secondaries. */
export interface StepDownAttempt {
  readonly term: number
  readonly waitUntilMs: number
  readonly stepDownUntilMs: number
  readonly force: boolean
  readonly modeBefore: LeaderMode
}

export interface CoordinatorOptions {
  readonly setName: string
  /** `host:port`. */
  readonly selfHost: string
  /** Whether an address in a configuration leads to this member. Default: it equals `selfHost`. */
  readonly isSelf?: (host: string) => boolean
  readonly rules: ReplicationRules
  /** In [0, 1). */
  readonly random: () => number
  /** The next time of the oplog. */
  readonly clusterTime: () => Timestamp
  /**
   * Server parameter periodicNoopIntervalSecs, in milliseconds. Null (default): 10,000, except that
   * a member that is alone writes no periodic no-ops.
   */
  readonly noopIntervalMs?: number | null
}

/** Everything that the protocol of one member knows. Mechanisms are functions over it. */
export class ProtocolState {
  readonly setName: string
  /** As in the configuration. */
  selfHost: string
  readonly #isSelf: (host: string) => boolean
  #members: MemberView[]
  #self: MemberView
  #peers: readonly MemberView[] = []
  readonly rules: ReplicationRules
  /** In [0, 1). */
  readonly random: () => number
  /** The next time of the oplog: the time of an election. */
  readonly clusterTime: () => Timestamp
  readonly timers = new Timers()
  readonly effects: Effect[] = []
  nowMs = 0
  nextRequestId = 1

  /** Null: not initiated, or not learned yet. */
  config: ReplicaSetConfig | null = null
  /** A configuration that is stored before it is installed. Null: none. */
  storing: ReplicaSetConfig | null = null
  /** -1: not in the configuration. */
  selfIndex = -1
  term = uninitializedTerm
  lastVote: Vote = { term: uninitializedTerm, candidateIndex: -1 }

  /** The id of the last heartbeat to each host that is not answered yet. */
  readonly heartbeats = new Map<string, number>()
  /** Hosts that sent a newer configuration to a member that is in none. */
  readonly strangers = new Map<string, PingStatistics>()
  followerMode: FollowerMode = 'STARTUP2'
  maintenanceCalls = 0
  /** The state that was last announced. */
  announced: MemberState = 'STARTUP'

  candidacy: Candidacy | null = null
  leaderMode: LeaderMode = 'none'
  /** -1: no primary known. */
  primaryIndex = -1
  electionTime: Timestamp | null = null
  /** Of the last election that this member won. */
  electionTerm = uninitializedTerm
  /** Newer entries are committed only if they are not older: the first entry of the own term. */
  firstOpTimeOfTerm: OpTime = nullOpTime
  readonly noopIntervalMs: number
  readonly writesNoopsAlone: boolean
  /** The last entry when the periodic no-op was last considered, or that no-op. */
  noopLastKnown: OpTime = nullOpTime
  /** Elections are not started before. */
  frozenUntilMs = 0
  catchUp: { target: OpTime | null } | null = null
  /** The term in which everything fetched is applied and no entry is written yet. Null: none. */
  drainedTerm: number | null = null
  stepDown: StepDownAttempt | null = null
  /** After a step-down without force, another member is asked to run for election. */
  handsOff = false
  /** Adopted when the step-down is complete. */
  pendingTerm: number | null = null
  /** Installed when the step-down is complete. */
  pendingConfig: ReplicaSetConfig | null = null

  committed: TimedOpTime = nullTimedOpTime
  committedInPreviousConfig: OpTime = nullOpTime

  syncSource: string | null = null
  /** By `replSetSyncFrom`: the next selection takes it. */
  requestedSyncSource: string | null = null
  /** The current source was requested. */
  syncSourceIsRequested = false
  readonly deniedUntilMs = new Map<string, number>()
  readonly syncSourceChangesMs: number[] = []
  heartbeatsInConfig = 0

  topologyCounter = 0

  /** Null: not primary. */
  candidateMetrics: CandidateMetrics | null = null
  /** Null: no vote since the start. */
  participantMetrics: ParticipantMetrics | null = null
  /** What the member last did about its sync source; shown for two minutes. */
  message: { readonly text: string; readonly atMs: number } | null = null

  constructor(options: CoordinatorOptions) {
    this.setName = options.setName
    this.selfHost = options.selfHost
    this.#isSelf = options.isSelf ?? ((host) => host === options.selfHost)
    this.rules = options.rules
    this.random = options.random
    this.clusterTime = options.clusterTime
    this.noopIntervalMs = options.noopIntervalMs ?? 10_000
    this.writesNoopsAlone = options.noopIntervalMs != null
    this.#self = new MemberView(-1, options.selfHost)
    this.#members = [this.#self]
  }

  /** How a configuration writes the address of this member, if it is in it. */
  selfHostIn({ members }: ReplicaSetConfig): string {
    return members.find(({ host }) => this.#isSelf(host))?.host ?? this.selfHost
  }

  get settings(): ReplicaSetSettings {
    return this.config?.settings ?? defaultSettings
  }

  get isPrimary(): boolean {
    return this.leaderMode !== 'none'
  }

  /** Null: not in the configuration. */
  get selfConfig(): MemberConfig | null {
    return this.config?.members[this.selfIndex] ?? null
  }

  get primary(): MemberView | null {
    return this.members[this.primaryIndex] ?? null
  }

  /** In the order of the configuration; the member itself is {@link self}. */
  get members(): MemberView[] {
    return this.#members
  }

  /** This member's own progress, also while it is in no configuration. */
  get self(): MemberView {
    return this.#self
  }

  /** Everyone but this member. Empty while it is in no configuration. */
  get peers(): readonly MemberView[] {
    return this.#peers
  }

  setMembers(members: MemberView[], self: MemberView): void {
    this.#members = members
    this.#self = self
    this.#peers = members.filter((view) => view !== self)
  }

  configOf(view: MemberView): MemberConfig {
    return this.config!.members[this.members.indexOf(view)]!
  }

  viewOf(host: string): MemberView | null {
    return this.members.find((view) => view.host === host) ?? null
  }

  /** The state that other members and clients see. */
  get memberState(): MemberState {
    if (this.config === null) return 'STARTUP'
    const self = this.selfConfig
    if (self === null) return 'REMOVED'
    if (this.isPrimary) return 'PRIMARY'
    if (self.arbiterOnly) return 'ARBITER'
    return this.maintenanceCalls > 0 && this.followerMode === 'SECONDARY' ? 'RECOVERING' : this.followerMode
  }

  /** Every call of the host has the time, which never goes back. */
  at(nowMs: number): this {
    if (nowMs > this.nowMs) this.nowMs = nowMs
    return this
  }

  emit(effect: Effect): void {
    this.effects.push(effect)
  }

  /** Clients that wait in hello are answered. */
  topologyChanged(): void {
    this.emit({ kind: 'topology', counter: ++this.topologyCounter })
  }

  /** Nothing is committed before the first entry of the own term is. */
  blockCommits(): void {
    this.firstOpTimeOfTerm = endOfTime
  }
}
