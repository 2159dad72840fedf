/**
 * Runs the protocol core of one member: sends its messages, stores what it decides, and reports
 * completions. Server: replication_coordinator_impl.cpp and its external state.
 */
import type { ActorContext, ClusterClock, MessageKind, RequestOf } from '@shardlab/actor'
import { CommandError, emptyDocument } from '@shardlab/bson'
import {
  configDocument,
  isNullOpTime,
  parseConfig,
  ReplicationCoordinator,
  stepDownFailure,
  uninitializedTerm,
  type PrimaryOfOne,
  type Effect,
  type EffectOf,
  type InitiateOptions,
  type ReplicaSetConfig,
  type ReplicationRules,
  type StepDownArguments,
  type Vote,
} from '@shardlab/replication'
import { Campaign } from './campaign.js'
import { atEndpoint } from './own-member.js'
import { InitialSync } from './initial-sync.js'
import { OplogFetcher } from './oplog-fetcher.js'
import type { ProtocolHooks } from './protocol-hooks.js'
import type { ProtocolParts } from './protocol-parts.js'
import { ProtocolRequests } from './protocol-requests.js'
import type { ReplicaLog } from './replica-log.js'
import { ignoreFullDisk, persist } from './persist.js'
import { relocate } from './relocate.js'
import { Rollback } from './rollback.js'
import { MessageAnswers } from './message-answers.js'
import { SetWaits } from './set-waits.js'
import { documentOfVote, voteOfDocument } from './vote-document.js'

export const replicationTimer = 'replication'

type StepDownOutcome = { readonly error: CommandError | null }

export interface SetProtocolOptions {
  readonly context: ActorContext
  readonly log: ReplicaLog
  readonly clock: ClusterClock
  readonly rules: ReplicationRules
  readonly setName: string
  /** See `SetOptions`. */
  readonly keepsHosts: boolean
  readonly noopIntervalMs: number | null
  readonly hooks: ProtocolHooks
}

export class SetProtocol implements ProtocolParts {
  readonly context: ActorContext
  readonly log: ReplicaLog
  readonly coordinator: ReplicationCoordinator
  readonly hooks: ProtocolHooks
  readonly #rules: ReplicationRules
  readonly #keepsHosts: boolean
  readonly waits: SetWaits
  readonly #answers: MessageAnswers
  readonly #fetcher: OplogFetcher
  readonly #campaign: Campaign
  readonly #requests: ProtocolRequests
  #stepDownOutcome: StepDownOutcome | null = null
  /** When the timer wakes; null: it is not armed. */
  #wakeAtMs: number | null = null
  /** Grows with each rollback. */
  rollbackId = 1

  constructor({ context, log, clock, rules, setName, keepsHosts, noopIntervalMs, hooks }: SetProtocolOptions) {
    this.context = context
    this.log = log
    this.hooks = hooks
    this.#rules = rules
    this.#keepsHosts = keepsHosts
    const random = context.random.fork('elections')
    this.coordinator = new ReplicationCoordinator({
      setName,
      selfHost: context.endpoint,
      isSelf: (host) => context.resolve(host)[0] === context.address,
      rules,
      random: () => random.fraction(),
      clusterTime: () => clock.tick(),
      noopIntervalMs,
    })
    this.waits = new SetWaits(this)
    this.#requests = new ProtocolRequests(this, rules)
    this.#campaign = new Campaign(this, this.waits)
    this.#answers = new MessageAnswers(this, this.waits, rules, clock)
    this.#fetcher = new OplogFetcher(this, new InitialSync(this), new Rollback(this))
  }

  /**
   * The log must have recovered.
   * @param termMin of a copy: clients take a primary with a lower term for a stale one
   */
  start(termMin = uninitializedTerm): void {
    const { coordinator, context, log } = this
    const { config, vote } = log.stored
    const parsed = config === null ? null : this.#configOfStart(config)
    log.onDurable = this.#onDurable
    coordinator.start(context.steadyNow(), {
      config: parsed,
      vote: vote === null ? null : voteOfDocument(vote),
      last: log.last,
      termMin,
    })
    const isToBeInitiated = config !== null && parsed === null
    if (log.last.optime.ts[0] > 0 && !isToBeInitiated) coordinator.setFollowerMode(context.steadyNow(), 'SECONDARY')
    this.carryOut()
    this.#electOnlyMember()
    this.#fetcher.start()
  }

  /** Null: it is that of a standalone server, which now is to be a member of a set. */
  #configOfStart(document: Uint8Array): ReplicaSetConfig | null {
    const { config } = parseConfig(document, this.#rules)
    if (config.name !== this.coordinator.state.setName) return null
    return this.#keepsHosts ? config : atEndpoint(config, this.context.endpoint)
  }

  /** For a member of a set of one that has the first entry of the oplog and no configuration. */
  initiateAlone(options: InitiateOptions): void {
    const { coordinator } = this
    const config = coordinator.commands.initiate(this.nowMs, emptyDocument, options)
    if (config instanceof CommandError) throw config
    coordinator.changeConfig(this.nowMs, config)
    this.carryOut()
    this.#electOnlyMember()
  }

  /** No other member votes, so the election is over before the first command. */
  #electOnlyMember(): void {
    if (!this.coordinator.isAlone) return
    this.coordinator.tick(this.nowMs)
    this.carryOut()
  }

  /** In a copy, instead of {@link start}. The log must have the entries of the original. */
  resume(primary: PrimaryOfOne): void {
    const config = atEndpoint(primary.config, this.context.endpoint)
    this.log.onDurable = this.#onDurable
    this.log.adoptConfig(configDocument(config, this.#rules))
    this.coordinator.resume(this.nowMs, { ...primary, config })
    this.#fetcher.start()
  }

  /** Other members need the progress of this one; a command calls {@link update}. */
  readonly #onDurable = (): void => {
    if (!this.coordinator.isAlone || this.waits.areWaiting) this.#progressed()
  }

  /** Call it before the state of the coordinator is used, except whether this member is primary. */
  update(): void {
    if (this.coordinator.isAlone) this.#progressed()
  }

  wake(): void {
    this.#wakeAtMs = null
    this.update()
    this.coordinator.tick(this.context.steadyNow())
    this.carryOut()
    this.hooks.woken()
  }

  /**
   * Applies entries of other members that much later than their primary wrote them, in addition to
   * the delay of the configuration.
   */
  delayReplication(delayMs: number): void {
    this.#fetcher.delay(delayMs)
  }

  get nowMs(): number {
    return this.context.steadyNow()
  }

  /** Call it after every call of the coordinator. */
  carryOut(): void {
    const { coordinator } = this
    do {
      for (let effects = coordinator.takeEffects(); effects.length > 0; effects = coordinator.takeEffects())
        for (const effect of effects) this.#carryOut(effect)
    } while (this.#campaign.beginsElection())
    this.#armTimer()
    this.waits.check()
    this.#fetcher.check()
  }

  /**
   * For a member without a configuration that has the first entry of the oplog, unless it is an
   * arbiter. Resolves when this member knows the primary.
   * @param campaigns it runs for election at once
   */
  async initiate(config: Uint8Array, campaigns: boolean): Promise<void> {
    const { coordinator, log } = this
    coordinator.progress(this.nowMs, log.last, log.durable)
    if (!isNullOpTime(log.last.optime)) coordinator.setFollowerMode(this.nowMs, 'SECONDARY')
    coordinator.changeConfig(this.nowMs, parseConfig(config, this.#rules).config)
    this.carryOut()
    await this.waits.within(null, () => (coordinator.state.config === null ? null : true))
    await this.#campaign.untilPrimary({ campaigns, timeoutMs: null })
  }

  #armTimer(): void {
    const atMs = this.coordinator.nextTimerMs
    if (atMs === this.#wakeAtMs) return
    this.#wakeAtMs = atMs
    if (atMs === null) this.context.clearTimer(replicationTimer)
    else this.context.setTimer(replicationTimer, Math.max(0, atMs - this.nowMs))
  }

  /** Runs work whose completion the core waits for. A rejection crashes the member. */
  #detach(work: Promise<void>): void {
    this.context.detach(work.then(() => this.carryOut()))
  }

  #carryOut(effect: Effect): void {
    const { hooks } = this
    switch (effect.kind) {
      case 'heartbeat':
        return this.#requests.sendHeartbeat(effect)
      case 'request-vote':
        return this.#requests.requestVote(effect)
      case 'store-vote':
        // The log of the only member has its term, and no other member counts its vote.
        if (this.coordinator.isAlone) return this.coordinator.voteStored(this.nowMs, effect.vote.term)
        return this.#detach(this.#storeVote(effect.vote))
      case 'store-config':
        return this.#storeConfig(effect)
      case 'state':
        return hooks.stateChanged(effect.from, effect.to)
      case 'drain':
        if (this.coordinator.isAlone) return this.coordinator.drained(this.nowMs, effect.term)
        return this.#detach(this.#drain(effect.term))
      case 'write-first-entry':
        if (this.coordinator.isAlone) return this.#beginTermAlone()
        return this.#detach(this.#writeFirstEntry(effect.term))
      case 'write-noop':
        return this.#detach(this.#writeNoop(effect.term))
      case 'step-down':
        return this.#detach(this.#stepDown(effect))
      case 'step-down-failed':
        this.#stepDownOutcome = {
          error: stepDownFailure(effect.error, this.nowMs, this.#rules, this.coordinator.newestSeconds),
        }
        return
      case 'step-up':
        return this.context.send(effect.to, 'replication.step-up', {})
      case 'commit-point':
        return hooks.committed(effect.committed)
      case 'report-position':
        return this.#requests.reportPosition()
      case 'sync-source-lost':
        return this.#fetcher.sourceLost()
      case 'count-new-member':
        return this.#countNewMember(effect.memberId)
      case 'topology':
        return hooks.topologyChanged()
      case 'election':
        return hooks.elected(effect)
    }
  }

  async #storeVote(vote: Vote): Promise<void> {
    await persist(this.context, () => this.log.storeVote(documentOfVote(vote)))
    this.coordinator.voteStored(this.nowMs, vote.term)
  }

  #storeConfig({ config }: EffectOf<'store-config'>): void {
    const { coordinator, context, log } = this
    const document = configDocument(config, this.#rules)
    const isFirst = coordinator.state.config === null
    // A member that initiates or elects itself alone does the same again after a crash.
    if (config.members.length === 1 && (isFirst || coordinator.state.leaderMode === 'elected')) {
      if (isFirst) context.detach(log.storeConfig(document).catch(ignoreFullDisk))
      return coordinator.configStored(this.nowMs)
    }
    const stored = () => coordinator.configStored(this.nowMs)
    this.#detach(persist(context, () => log.storeConfig(document)).then(stored))
  }

  #beginTermAlone(): void {
    const { optime } = this.log.appendNoop('new primary')
    // Before the role adds entries. On a full disk the entry waits for the next write.
    this.context.detach(this.log.flush().catch(ignoreFullDisk))
    this.hooks.beginWrites()
    this.coordinator.progress(this.nowMs, this.log.last, this.log.durable)
    this.coordinator.firstEntryWritten(this.nowMs, optime)
  }

  async #drain(term: number): Promise<void> {
    await this.#fetcher.idle()
    this.coordinator.drained(this.nowMs, term)
  }

  async #writeFirstEntry(term: number): Promise<void> {
    if (!this.#isPrimaryOf(term)) return
    const { optime } = this.log.appendNoop('new primary')
    await persist(this.context, () => this.log.flush())
    if (!this.#isPrimaryOf(term)) return
    this.hooks.beginWrites()
    this.#progressed()
    this.coordinator.firstEntryWritten(this.nowMs, optime)
  }

  async #writeNoop(term: number): Promise<void> {
    const { isWritablePrimary, state } = this.coordinator
    if (!isWritablePrimary || state.term !== term || !this.hooks.writesPeriodicNoops()) return
    this.log.appendNoop('periodic noop')
    await persist(this.context, () => this.log.flush())
    this.update()
    this.coordinator.noopWritten(this.nowMs)
  }

  #isPrimaryOf(term: number): boolean {
    const { isPrimary, term: current, leaderMode } = this.coordinator.state
    return isPrimary && current === term && leaderMode !== 'stepping-down'
  }

  async #stepDown({ reason }: EffectOf<'step-down'>): Promise<void> {
    const { term } = this.coordinator.state
    // Writes that wait for other members reply first, with the error of their write concern.
    await this.context.nextTurn()
    await this.hooks.endWrites()
    this.coordinator.steppedDown(this.nowMs, reason)
    this.hooks.steppedDown(term, reason)
    this.#stepDownOutcome = { error: null }
    this.#answers.steppedDown()
  }

  #countNewMember(memberId: number): void {
    const next = this.coordinator.countedMember(this.nowMs, memberId)
    if (next !== null) this.coordinator.changeConfig(this.nowMs, next)
  }

  #progressed(): void {
    this.coordinator.progress(this.nowMs, this.log.last, this.log.durable)
    this.carryOut()
  }

  /** Answers a message of another member; null: not a message of the protocol. */
  receive(kind: MessageKind, request: unknown): Promise<unknown> | object | null {
    if (kind === 'replication.relocate')
      return relocate(this, this.#rules, request as RequestOf<'replication.relocate'>)
    if (kind === 'replication.campaign') {
      const timeoutMs = this.coordinator.state.settings.electionTimeoutMs
      return this.#campaign.untilPrimary({ campaigns: true, timeoutMs }).then(() => ({}))
    }
    return this.#answers.receive(kind, request)
  }

  /** replSetStepDown. @returns the error; null: this member is a secondary */
  async stepDown(args: StepDownArguments): Promise<CommandError | null> {
    this.#stepDownOutcome = null
    const refusal = this.coordinator.commands.stepDown(this.nowMs, args)
    if (refusal !== null) return refusal
    this.carryOut()
    const outcome = await this.waits.within(null, () => this.#stepDownOutcome)
    return outcome!.error
  }
}
