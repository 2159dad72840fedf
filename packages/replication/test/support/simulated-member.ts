import {
  commonPoint,
  compareOpTimes,
  compareTimestamps,
  nullTimedOpTime,
  ReplicationCoordinator,
  type Effect,
  type OpTime,
  type ReplicaSetConfig,
  type SourceMetadata,
  type TimedOpTime,
  type Timestamp,
  type Vote,
  type VoteReply,
  type VoteRequest,
} from '@shardlab/replication'
import type { Peer, World } from './world.js'

type EffectOf<K extends Effect['kind']> = Extract<Effect, { kind: K }>

interface FetchReply {
  readonly metadata: SourceMetadata
  /** From the reader's last entry on. Null: the source does not have that entry. */
  readonly entries: readonly TimedOpTime[] | null
  /** The source's whole oplog: for the common point. */
  readonly oplog: readonly TimedOpTime[]
}

/** One member with a model of its oplog and disk. */
export class SimulatedMember implements Peer {
  readonly host: string
  readonly set: World
  coordinator: ReplicationCoordinator | null = null
  /** Changes with every start, so that events of an earlier life are ignored. */
  life = 0
  oplog: TimedOpTime[] = []
  durableCount = 0
  disk: { config: ReplicaSetConfig | null; vote: Vote | null } = { config: null, vote: null }
  /** Vote requests that wait for the end of a step-down. */
  #waitingVotes: (() => void)[] = []
  #reporting = false
  /** Of the next tick that is scheduled. */
  #tickAtMs = Infinity

  constructor(set: World, host: string) {
    this.set = set
    this.host = host
  }

  get last(): TimedOpTime {
    return this.oplog.at(-1) ?? nullTimedOpTime
  }

  get isArbiter(): boolean {
    return this.disk.config?.members.find(({ host }) => host === this.host)?.arbiterOnly === true
  }

  start(): void {
    const { set } = this
    this.life++
    this.#waitingVotes = []
    this.#reporting = false
    this.#tickAtMs = Infinity
    this.oplog.length = this.durableCount
    this.coordinator = new ReplicationCoordinator({
      setName: set.name,
      selfHost: this.host,
      rules: set.rules,
      random: set.random.next,
      clusterTime: () => this.#nextTimestamp(),
    })
    this.coordinator.start(set.nowMs, { ...this.disk, last: this.last })
    if (this.oplog.length > 0) this.coordinator.setFollowerMode(set.nowMs, 'SECONDARY')
    this.carryOut()
    this.later(set.random.between(1, 50), () => this.#fetch())
  }

  crash(): void {
    this.coordinator = null
    this.life++
  }

  /** Runs unless the member has crashed in between. */
  later(delayMs: number, run: (coordinator: ReplicationCoordinator) => void): void {
    const { life } = this
    this.set.schedule.after(delayMs, () => {
      if (this.coordinator === null || this.life !== life) return
      run(this.coordinator)
      this.carryOut()
    })
  }

  carryOut(): void {
    const { coordinator, set } = this
    if (coordinator === null) return
    for (let effects = coordinator.takeEffects(); effects.length > 0; effects = coordinator.takeEffects()) {
      for (const effect of effects) this.#carryOut(effect)
    }
    const atMs = coordinator.nextTimerMs
    if (atMs !== null && atMs < this.#tickAtMs) {
      this.#tickAtMs = atMs
      this.later(Math.max(0, atMs - set.nowMs), () => this.#tick(atMs))
    }
    set.checkMember(this)
  }

  #tick(atMs: number): void {
    const { coordinator, set } = this
    if (this.#tickAtMs === atMs) this.#tickAtMs = Infinity
    if (coordinator !== null && (coordinator.nextTimerMs ?? Infinity) <= set.nowMs) coordinator.tick(set.nowMs)
  }

  #carryOut(effect: Effect): void {
    const { set } = this
    const storeMs = () => set.random.between(1, 5)
    set.trace(this, effect)
    switch (effect.kind) {
      case 'heartbeat':
        this.#sendHeartbeat(effect)
        break
      case 'request-vote':
        this.#requestVote(effect)
        break
      case 'store-vote':
        this.later(storeMs(), (coordinator) => {
          this.disk.vote = effect.vote
          coordinator.voteStored(set.nowMs, effect.vote.term)
        })
        break
      case 'store-config':
        this.later(storeMs(), (coordinator) => {
          this.disk.config = effect.config
          coordinator.configStored(set.nowMs)
        })
        break
      case 'drain':
        this.later(storeMs(), (coordinator) => coordinator.drained(set.nowMs, effect.term))
        break
      case 'write-first-entry':
        this.later(storeMs(), (coordinator) => {
          if (!coordinator.state.isPrimary || coordinator.state.term !== effect.term) return
          const entry = this.append()
          coordinator.firstEntryWritten(set.nowMs, entry.optime)
          if (set.defects.has('commit-old-term')) coordinator.state.firstOpTimeOfTerm = nullTimedOpTime.optime
        })
        break
      case 'write-noop':
        this.later(storeMs(), (coordinator) => {
          if (!coordinator.isWritablePrimary || coordinator.state.term !== effect.term) return
          this.append()
          coordinator.noopWritten(set.nowMs)
        })
        break
      case 'step-down':
        this.later(set.random.between(1, 20), (coordinator) => {
          coordinator.steppedDown(set.nowMs, effect.reason)
          for (const retry of this.#waitingVotes.splice(0)) retry()
        })
        break
      case 'step-up':
        set.send(this, set.member(effect.to), (coordinator) => coordinator.stepUp(set.nowMs, 'stepUpRequestSkipDryRun'))
        break
      case 'count-new-member': {
        const next = this.coordinator!.countedMember(set.nowMs, effect.memberId)
        if (next !== null) this.coordinator!.changeConfig(set.nowMs, next)
        break
      }
      case 'report-position':
        this.#reportPosition()
        break
      case 'election':
        if (effect.outcome === 'won' && !effect.dryRun) set.elected(this, effect.term)
        break
      case 'commit-point':
        set.committed(this, effect.committed.optime)
        break
      default:
    }
  }

  #sendHeartbeat({ id, to, timeoutMs, request }: EffectOf<'heartbeat'>): void {
    const { set } = this
    set.request(this, set.member(to), timeoutMs, {
      answer: (coordinator) => coordinator.answerHeartbeat(set.nowMs, request),
      replied: (coordinator, reply) => {
        if (typeof reply === 'string') coordinator.heartbeatFailed(set.nowMs, id, to, reply)
        else coordinator.heartbeatReplied(set.nowMs, id, to, reply)
      },
      failed: (coordinator) => coordinator.heartbeatFailed(set.nowMs, id, to, 'unreachable'),
    })
  }

  #requestVote({ id, to, timeoutMs, request }: EffectOf<'request-vote'>): void {
    const { set } = this
    set.requestAsync<VoteReply>(this, set.member(to), timeoutMs, {
      answer: (voter, reply) => voter.vote(request, reply),
      replied: (coordinator, reply) => coordinator.voteReplied(set.nowMs, id, reply),
      failed: (coordinator) => coordinator.voteFailed(set.nowMs, id, 'unreachable'),
    })
  }

  vote(request: VoteRequest, reply: (reply: VoteReply) => void): void {
    const { set, coordinator } = this
    if (coordinator === null) return
    const newest = { ts: [0xffffffff, 0], term: request.term } as const
    const asked = set.defects.has('elect-behind') ? { ...request, lastApplied: newest } : request
    const answer = coordinator.answerVoteRequest(set.nowMs, asked)
    if (answer === null) {
      this.#waitingVotes.push(() => this.vote(request, reply))
      this.carryOut()
      return
    }
    const vote = set.defects.has('vote-twice') ? null : coordinator.state.lastVote
    if (set.defects.has('vote-twice')) coordinator.state.lastVote = { term: -1, candidateIndex: -1 }
    if (!answer.granted || request.dryRun) reply(answer)
    else {
      this.later(set.random.between(1, 5), () => {
        this.disk.vote = vote
        reply(answer)
      })
    }
    this.carryOut()
  }

  /** A write of a client or of the protocol. */
  append(): TimedOpTime {
    const { set, coordinator } = this
    const entry = { optime: { ts: this.#nextTimestamp(), term: coordinator!.state.term }, wallMs: set.nowMs }
    this.#appendAll([entry])
    return entry
  }

  #nextTimestamp(): Timestamp {
    const now = Math.floor(this.set.nowMs / 1000) + 1
    const { ts } = this.last.optime
    return now > ts[0] ? [now, 1] : [ts[0], ts[1] + 1]
  }

  #appendAll(entries: readonly TimedOpTime[]): void {
    const { set } = this
    this.oplog.push(...entries)
    const count = this.oplog.length
    const { optime } = this.last
    this.#progress()
    this.later(set.random.between(1, 10), () => {
      // A rollback in between has removed what was to become durable.
      const at = this.oplog[count - 1]
      if (at === undefined || compareOpTimes(at.optime, optime) !== 0) return
      this.durableCount = Math.max(this.durableCount, count)
      this.#progress()
    })
  }

  #progress(): void {
    const { coordinator, set } = this
    const durable = set.defects.has('acknowledge-early') ? this.last : this.oplog[this.durableCount - 1]
    coordinator!.progress(set.nowMs, this.last, durable ?? nullTimedOpTime)
  }

  #reportPosition(): void {
    const { set, coordinator } = this
    const source = coordinator!.state.syncSource
    if (this.#reporting || source === null) return
    this.#reporting = true
    this.later(set.random.between(1, 10), (reporter) => {
      this.#reporting = false
      const report = reporter.positionReport()
      set.send(this, set.member(source), (receiver) => receiver.positionsReceived(set.nowMs, report))
    })
  }

  #fetch(): void {
    const { set } = this
    const { random } = set
    const coordinator = this.coordinator!
    this.later(random.between(20, 200), () => this.#fetch())
    if (this.isArbiter || this.disk.config === null) return
    if (coordinator.state.isPrimary && coordinator.state.catchUp === null) return
    const { optime } = this.last
    const host = coordinator.state.syncSource ?? coordinator.chooseSyncSource(set.nowMs, optime)
    if (host === null) return
    const { term } = coordinator.state
    set.request(this, set.member(host), 1000, {
      answer: (source): FetchReply => {
        source.readerRequested(set.nowMs, term)
        const { oplog } = set.member(host)
        const at = oplog.findLastIndex((entry) => compareOpTimes(entry.optime, optime) === 0)
        const entries = at === -1 && this.oplog.length > 0 ? null : oplog.slice(at + 1, at + 1 + 50)
        return { metadata: source.sourceMetadata(), entries, oplog: entries === null ? [...oplog] : [] }
      },
      replied: (receiver, reply) => this.#fetched(receiver, host, optime, reply),
      failed: (receiver) => this.#leaveSource(receiver, host),
    })
  }

  #leaveSource(coordinator: ReplicationCoordinator, host: string): void {
    coordinator.denySyncSource(this.set.nowMs, host, this.set.nowMs + 1000)
    if (coordinator.state.syncSource === host) coordinator.state.syncSource = null
  }

  #fetched(coordinator: ReplicationCoordinator, host: string, from: OpTime, reply: FetchReply): void {
    const { set } = this
    const { state } = coordinator
    if (state.syncSource !== host || compareOpTimes(this.last.optime, from) !== 0) return
    if (state.isPrimary && state.catchUp === null) return
    if (reply.entries === null) {
      if (compareOpTimes(reply.metadata.lastApplied, from) < 0 || state.isPrimary) this.#leaveSource(coordinator, host)
      else this.#rollBack(coordinator, reply.oplog)
      return
    }
    if (reply.entries.length > 0) this.#appendAll(reply.entries)
    if (state.followerMode === 'STARTUP2' && this.oplog.length > 0 && !state.isPrimary) {
      coordinator.setFollowerMode(set.nowMs, 'SECONDARY')
    }
    coordinator.sourceReplied(set.nowMs, reply.metadata)
    if (coordinator.shouldChangeSyncSource(set.nowMs, this.last.optime, reply.metadata)) state.syncSource = null
  }

  #rollBack(coordinator: ReplicationCoordinator, remote: readonly TimedOpTime[]): void {
    const { set } = this
    if (set.defects.has('skip-rollback')) {
      const newer = remote.filter(({ optime }) => compareTimestamps(optime.ts, this.last.optime.ts) > 0)
      if (newer.length > 0) this.#appendAll(newer)
      return
    }
    const backwards = (log: readonly TimedOpTime[]) =>
      log
        .map(({ optime }) => optime)
        .toReversed()
        .values()
    const common = commonPoint(backwards(this.oplog), backwards(remote))
    const count = common === null ? 0 : this.oplog.findIndex(({ optime }) => compareOpTimes(optime, common) === 0) + 1
    set.rolledBack(this, count)
    coordinator.setFollowerMode(set.nowMs, 'ROLLBACK')
    this.oplog.length = count
    this.durableCount = Math.min(this.durableCount, count)
    coordinator.rolledBackTo(set.nowMs, this.last)
    coordinator.setFollowerMode(set.nowMs, count === 0 ? 'STARTUP2' : 'SECONDARY')
  }
}
