/** Server: balancer.cpp. Manual: core/sharding-balancer-administration. */
import {
  answering,
  Cancellation,
  RequestFailedError,
  StepFailedError,
  UnservedMessageError,
  type Actor,
  type ActorContext,
  type BalancerRoundEvent,
  type MessageKind,
  type Random,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { behavioursOf, defaultVersion, type Behaviours, type EmulatedVersion } from '@shardlab/sharding'
import { AutoMerger, type AutoMergerPass } from './auto-merger.js'
import { ChunkOperations } from './rounds/chunk-operations.js'
import { ClusterView } from './cluster-view.js'
import { collectionStatus } from './status/collection-status.js'
import { Defragmentations } from './defragmentation/defragmentations.js'
import { explainCollection } from './status/explain.js'
import { Pacing } from './rounds/pacing.js'
import type { BalancePolicy } from './policy/custom-policy.js'
import { rebalanceChunk } from './rounds/rebalance-chunk.js'
import { RoundLog } from './rounds/round-log.js'
import { Round, type RoundResult } from './rounds/round.js'
import { SettingsReader } from './settings/settings-reader.js'
import { isActiveBetweenRounds, reasonForRest, type BalancerSettings } from './settings/settings.js'

export interface BalancerOptions {
  /**
   * Pause after a round that moved nothing. After other rounds it is a tenth of that, unless the
   * config server's parameter balancerMigrationsThrottlingMs is set.
   */
  readonly roundIntervalMs: number
  /** Server version. Default 7.0. */
  readonly emulate?: EmulatedVersion
  /** Decides in place of the server's policy, which explanations still describe. Default: none. */
  readonly policy?: BalancePolicy
}

interface BalancerState {
  readonly rounds: number
  readonly imbalanced: readonly string[]
  readonly autoMergerStartedAtMs: number
  readonly autoMergerIntervalMs: number | null
  readonly autoMergerPass: AutoMergerPass | null
}

const roundTimer = 'round'
const autoMergerTimer = 'auto-merger'

export function createBalancer(context: ActorContext, options: BalancerOptions): Actor {
  return new Balancer(context, options)
}

class Balancer implements Actor {
  readonly #context: ActorContext
  readonly #options: BalancerOptions
  readonly #behaviours: Behaviours
  readonly #view: ClusterView
  readonly #operations: ChunkOperations
  readonly #settings: SettingsReader
  readonly #pacing: Pacing
  readonly #log: RoundLog
  readonly #defragmentations: Defragmentations
  readonly #autoMerger: AutoMerger
  readonly #random: Random
  readonly #stopping = new Cancellation()
  readonly #imbalanced = new Set<string>()
  #rounds = 0
  #running: Promise<BalancerRoundEvent> | null = null
  #autoMergerStartedAtMs = 0
  /** The interval of the auto-merger's timer; null: the auto-merger is running. */
  #autoMergerIntervalMs: number | null = null

  constructor(context: ActorContext, options: BalancerOptions) {
    const behaviours = behavioursOf(options.emulate ?? defaultVersion)
    const stopping = this.#stopping.signal
    const view = new ClusterView(context, behaviours)
    const operations = new ChunkOperations(context, behaviours, view, stopping)
    const settings = new SettingsReader(context, stopping)
    this.#context = context
    this.#options = options
    this.#behaviours = behaviours
    this.#view = view
    this.#operations = operations
    this.#settings = settings
    this.#pacing = new Pacing(context, { behaviours, settings, roundIntervalMs: options.roundIntervalMs, stopping })
    this.#log = new RoundLog(context, behaviours, stopping)
    const mayWork = () => isActiveBetweenRounds(settings.last, context.now())
    this.#defragmentations = new Defragmentations({
      context,
      behaviours,
      view,
      operations,
      settings,
      stopping,
      mayWork,
    })
    this.#autoMerger = new AutoMerger(context, view, settings, stopping)
    this.#random = context.random.fork('rounds')
  }

  start(): void {
    this.#context.setTimer(roundTimer, this.#options.roundIntervalMs)
    if (this.#behaviours.autoMerger) this.#context.setTimer(autoMergerTimer, this.#options.roundIntervalMs)
  }

  exportState(): BalancerState {
    return {
      rounds: this.#rounds,
      imbalanced: [...this.#imbalanced],
      autoMergerStartedAtMs: this.#autoMergerStartedAtMs,
      autoMergerIntervalMs: this.#autoMergerIntervalMs,
      autoMergerPass: this.#autoMerger.pass,
    }
  }

  /** The next round reads the settings and starts defragmentations. */
  resume(state: BalancerState): void {
    this.#rounds = state.rounds
    for (const ns of state.imbalanced) this.#imbalanced.add(ns)
    this.#autoMergerStartedAtMs = state.autoMergerStartedAtMs
    this.#autoMergerIntervalMs = state.autoMergerIntervalMs
    this.#autoMerger.resume(state.autoMergerPass)
  }

  async wake(timer: string): Promise<void> {
    // The running round sets the timer again.
    if (timer === roundTimer && this.#running === null) await this.#round(true)
    else if (timer === autoMergerTimer) await this.#mergeAutomatically()
  }

  stop(): void {
    this.#stopping.abort()
  }

  receive<K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> {
    switch (kind) {
      case 'balancer.status':
        return this.#status() as Promise<ReplyOf<K>>
      case 'balancer.collection-status':
        return this.#collectionStatus((request as RequestOf<'balancer.collection-status'>).ns) as Promise<ReplyOf<K>>
      case 'balancer.run-round':
        return this.#runRound() as Promise<ReplyOf<K>>
      case 'balancer.explain':
        return this.#explain((request as RequestOf<'balancer.explain'>).ns) as Promise<ReplyOf<K>>
      case 'balancer.rebalance-chunk':
        return this.#rebalance(request as RequestOf<'balancer.rebalance-chunk'>) as Promise<ReplyOf<K>>
      default:
        throw new UnservedMessageError(this.#context.address, kind)
    }
  }

  async #runRound(): Promise<ReplyOf<'balancer.run-round'>> {
    await this.#pacing.hurry(async () => {
      while (this.#running !== null) await this.#running
    })
    return { report: JSON.stringify(await this.#round(false)) }
  }

  /**
   * @param isPaced keeps the pauses that spare the cluster, and does not wait for shards that work
   *   on a defragmentation
   */
  #round(isPaced: boolean): Promise<BalancerRoundEvent> {
    const running = this.#attempt(isPaced).finally(() => {
      this.#running = null
    })
    this.#running = running
    return running
  }

  async #attempt(isPaced: boolean): Promise<BalancerRoundEvent> {
    const startedAtMs = this.#context.now()
    let skipped: string | null
    let result: RoundResult | null = null
    try {
      const settings = await this.#settings.read()
      this.#armAutoMerger(false)
      skipped = typeof settings === 'string' ? settings : reasonForRest(settings, startedAtMs)
      if (typeof settings === 'string')
        this.#context.log('warn', 'the balancer does not understand its settings', { reason: settings })
      else if (skipped === null) {
        await this.#context.reach('balancer.round.started')
        result = await this.#look(settings, isPaced)
        if (result.migrations.length > 0) await this.#log.ended(startedAtMs, result, this.#imbalanced.size)
      }
    } catch (error) {
      skipped = reasonOf(error)
      if (!this.#stopping.signal.aborted) {
        this.#context.log('warn', 'a balancer round failed', { reason: skipped })
        await this.#log.failed(startedAtMs, skipped)
      }
    }
    return this.#ended(startedAtMs, skipped, result)
  }

  #look(settings: BalancerSettings, isPaced: boolean): Promise<RoundResult> {
    const parts = {
      context: this.#context,
      behaviours: this.#behaviours,
      view: this.#view,
      operations: this.#operations,
      defragmentations: this.#defragmentations,
      random: this.#random,
      policy: this.#options.policy ?? null,
    }
    return new Round(parts, this.#imbalanced).run({
      settings,
      waitsForShards: !isPaced,
      pause: () => (isPaced ? this.#pacing.pause() : Promise.resolve(0)),
      mayMove: async () => {
        const now = await this.#settings.read()
        return typeof now !== 'string' && reasonForRest(now, this.#context.now()) === null
      },
    })
  }

  #ended(startedAtMs: number, skipped: string | null, result: RoundResult | null): BalancerRoundEvent {
    const { splits, migrations, blocked } = result ?? { splits: [], migrations: [], blocked: [] }
    const event: BalancerRoundEvent = {
      type: 'balancer-round',
      atMs: this.#context.now(),
      round: ++this.#rounds,
      skipped,
      splits,
      migrations,
      blocked,
      defragmenting: this.#defragmentations.active,
      durationMs: this.#context.now() - startedAtMs,
    }
    this.#context.emit(event)
    if (!this.#stopping.signal.aborted) this.#context.setTimer(roundTimer, this.#pacing.untilNext(result))
    return event
  }

  #collectionStatus(ns: string): Promise<ReplyOf<'balancer.collection-status'>> {
    return answering('balancer.collection-status', async () => ({
      ...(await collectionStatus(
        { view: this.#view, behaviours: this.#behaviours, defragmentations: this.#defragmentations },
        ns,
      )),
      error: null,
    }))
  }

  #explain(ns: string): Promise<ReplyOf<'balancer.explain'>> {
    return answering('balancer.explain', async () => {
      const settings = await this.#settings.read()
      const { busy } = this.#operations
      const explanation = await explainCollection(
        {
          view: this.#view,
          behaviours: this.#behaviours,
          defragmentations: this.#defragmentations,
          settings,
          nowMs: this.#context.now(),
          busy,
        },
        ns,
      )
      return { explanation: JSON.stringify(explanation), error: null }
    })
  }

  #rebalance({ ns, min }: RequestOf<'balancer.rebalance-chunk'>): Promise<ReplyOf<'balancer.rebalance-chunk'>> {
    return answering('balancer.rebalance-chunk', async () => {
      const settings = await this.#settings.read()
      if (typeof settings !== 'string')
        await rebalanceChunk(
          { view: this.#view, operations: this.#operations, settings, nowMs: this.#context.now() },
          ns,
          min,
        )
      return { error: null }
    })
  }

  async #mergeAutomatically(): Promise<void> {
    if (this.#autoMerger.pass === null) this.#autoMergerStartedAtMs = this.#context.now()
    this.#autoMergerIntervalMs = null
    let pauseMs: number | null = null
    try {
      pauseMs = await this.#autoMerger.step()
    } catch (error) {
      this.#context.log('warn', 'chunks were not merged', { reason: reasonOf(error) })
    }
    if (pauseMs === null) this.#armAutoMerger(true)
    else if (!this.#stopping.signal.aborted) this.#context.setTimer(autoMergerTimer, pauseMs)
  }

  /** @param isOver a pass has ended; otherwise the timer is set only if the interval has changed */
  #armAutoMerger(isOver: boolean): void {
    const { autoMergerIntervalMs } = this.#settings.pauses
    if (this.#stopping.signal.aborted) return
    if (!isOver && (this.#autoMergerIntervalMs === null || this.#autoMergerIntervalMs === autoMergerIntervalMs)) return
    this.#autoMergerIntervalMs = autoMergerIntervalMs
    this.#context.setTimer(
      autoMergerTimer,
      Math.max(0, this.#autoMergerStartedAtMs + autoMergerIntervalMs - this.#context.now()),
    )
  }

  async #status(): Promise<ReplyOf<'balancer.status'>> {
    const settings = await this.#settings.read().catch((error: unknown) => {
      if (error instanceof RequestFailedError) return this.#settings.last
      throw error
    })
    const { mode } = typeof settings === 'string' ? this.#settings.last : settings
    return { mode, inBalancerRound: this.#running !== null, numBalancerRounds: this.#rounds }
  }

  describe(): Record<string, unknown> {
    return { rounds: this.#rounds, inRound: this.#running !== null }
  }
}

/** @throws errors that are not failures of a request, a step or a command */
function reasonOf(error: unknown): string {
  if (error instanceof RequestFailedError || error instanceof StepFailedError || error instanceof CommandError)
    return error.message
  throw error
}
