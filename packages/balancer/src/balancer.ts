/**
 * The balancer role: wakes once a round, looks whether and what it may move, and has it moved; answers for its state and for single collections.
 * Server: balancer.cpp. Manual: core/sharding-balancer-administration.
 */
import {
  answering,
  configAddress,
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
import { AutoMerger } from './auto-merger.js'
import { ChunkOperations } from './chunk-operations.js'
import { ClusterView, configTimeoutMs } from './cluster-view.js'
import { collectionStatus } from './collection-status.js'
import { explainCollection } from './explain.js'
import { rebalanceChunk } from './rebalance-chunk.js'
import { failedRoundDetails, processedIn, roundDetails } from './round-details.js'
import { Round, type RoundResult } from './round.js'
import { defaultSettings, parseSettings, reasonForRest, type BalancerSettings } from './settings.js'

export interface BalancerOptions {
  /** Pause between rounds that find nothing to move, in milliseconds; between rounds that move it is a tenth of that. */
  readonly roundIntervalMs: number
  /** Server version to behave as. Default 7.0. */
  readonly emulate?: EmulatedVersion
}

const roundTimer = 'round'
const autoMergerTimer = 'auto-merger'
/** How many times faster rounds follow each other when there is something to move. Server: 10 s and 1 s. */
const haste = 10

export function createBalancer(context: ActorContext, options: BalancerOptions): Actor {
  return new Balancer(context, options)
}

class Balancer implements Actor {
  readonly #context: ActorContext
  readonly #options: BalancerOptions
  readonly #behaviours: Behaviours
  readonly #view: ClusterView
  readonly #operations: ChunkOperations
  readonly #autoMerger: AutoMerger
  readonly #random: Random
  /** Aborted when the member shuts down. */
  readonly #stopping = new AbortController()
  readonly #imbalanced = new Set<string>()
  #rounds = 0
  #running: Promise<BalancerRoundEvent> | null = null
  #lastMigrationAtMs = 0
  /** While a round pauses: aborting it ends that. */
  #pausing: AbortController | null = null
  /** Who waits for a round of their own: meanwhile no round pauses. */
  #waiting = 0
  /** What the settings said last: the answer while the config server is away. */
  #lastSettings: BalancerSettings = defaultSettings

  constructor(context: ActorContext, options: BalancerOptions) {
    this.#context = context
    this.#options = options
    this.#behaviours = behavioursOf(options.emulate ?? defaultVersion)
    this.#view = new ClusterView(context, this.#behaviours)
    this.#operations = new ChunkOperations(context, this.#behaviours, this.#view, this.#stopping.signal)
    this.#autoMerger = new AutoMerger(context, this.#view, this.#stopping.signal)
    this.#random = context.random.fork('rounds')
  }

  start(): void {
    this.#context.setTimer(roundTimer, this.#options.roundIntervalMs)
    if (this.#behaviours.autoMerger) this.#context.setTimer(autoMergerTimer, this.#options.roundIntervalMs)
  }

  async wake(timer: string): Promise<void> {
    // Who runs one arms the timer again.
    if (timer === roundTimer && this.#running === null) await this.#round(true)
    else if (timer === autoMergerTimer) await this.#mergeAutomatically()
  }

  stop(): void {
    this.#stopping.abort()
    this.#pausing?.abort()
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
    this.#waiting++
    this.#pausing?.abort()
    while (this.#running !== null) await this.#running
    this.#waiting--
    return { report: JSON.stringify(await this.#round(false)) }
  }

  /** @param isPaced does it keep the pauses that spare the cluster? */
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
    let candidates = 0
    try {
      const settings = await this.#settings()
      skipped = typeof settings === 'string' ? settings : reasonForRest(settings, startedAtMs)
      if (typeof settings === 'string') this.#context.log('warn', 'the balancer does not understand its settings', { reason: settings })
      else if (skipped === null) {
        await this.#context.reach('balancer.round.started')
        result = await this.#look(settings, isPaced)
        candidates = result.migrations.length
        if (candidates > 0) await this.#logRound(result, startedAtMs)
      }
    } catch (error) {
      skipped = reasonOf(error)
      if (!this.#stopping.signal.aborted) {
        this.#context.log('warn', 'a balancer round failed', { reason: skipped })
        await this.#logFailure(skipped, startedAtMs)
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
      random: this.#random,
    }
    return new Round(parts, this.#imbalanced).run({
      settings,
      pause: () => (isPaced ? this.#pause() : Promise.resolve(0)),
      mayMove: async () => {
        const now = await this.#settings()
        return typeof now !== 'string' && reasonForRest(now, this.#context.now()) === null
      },
    })
  }

  /** Where the version does not pause between rounds. @returns for how long */
  async #pause(): Promise<number> {
    if (!this.#behaviours.balancerPausesWithinRounds) return 0
    const pauseMs = this.#shortPauseMs - (this.#context.now() - this.#lastMigrationAtMs)
    if (pauseMs <= 0 || this.#waiting > 0) return 0
    const startedAtMs = this.#context.now()
    this.#pausing = new AbortController()
    try {
      await this.#context.sleep(pauseMs, this.#pausing.signal)
    } catch (error) {
      if (!(error instanceof RequestFailedError) || this.#stopping.signal.aborted) throw error
    } finally {
      this.#pausing = null
    }
    return this.#context.now() - startedAtMs
  }

  get #shortPauseMs(): number {
    return Math.ceil(this.#options.roundIntervalMs / haste)
  }

  #ended(startedAtMs: number, skipped: string | null, result: RoundResult | null): BalancerRoundEvent {
    const { splits, migrations } = result ?? { splits: [], migrations: [] }
    if (migrations.length > 0) this.#lastMigrationAtMs = this.#context.now()
    const event: BalancerRoundEvent = {
      type: 'balancer-round',
      atMs: this.#context.now(),
      round: ++this.#rounds,
      skipped,
      splits,
      migrations,
      durationMs: this.#context.now() - startedAtMs,
    }
    this.#context.emit(event)
    if (!this.#stopping.signal.aborted) this.#context.setTimer(roundTimer, this.#untilNextMs(result))
    return event
  }

  #untilNextMs(result: RoundResult | null): number {
    if (result === null || result.migrations.length === 0) return this.#options.roundIntervalMs
    if (this.#behaviours.balancerPausesWithinRounds) return 0
    return processedIn(result) > 0 ? this.#shortPauseMs : this.#options.roundIntervalMs
  }

  async #logRound(result: RoundResult, startedAtMs: number): Promise<void> {
    const durationMs = this.#context.now() - startedAtMs
    await this.#logAction(roundDetails(this.#behaviours, durationMs, result, this.#imbalanced.size))
  }

  async #logFailure(reason: string, startedAtMs: number): Promise<void> {
    await this.#logAction(failedRoundDetails(this.#behaviours, this.#context.now() - startedAtMs, reason))
  }

  /** A round that cannot be noted was one all the same. */
  async #logAction(details: Uint8Array): Promise<void> {
    try {
      const options = { timeoutMs: configTimeoutMs, signal: this.#stopping.signal }
      await this.#context.request(configAddress, 'config.log-action', { what: 'balancer.round', details }, options)
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
    }
  }

  #collectionStatus(ns: string): Promise<ReplyOf<'balancer.collection-status'>> {
    return answering('balancer.collection-status', async () => ({
      ...(await collectionStatus(this.#view, this.#behaviours, ns)),
      error: null,
    }))
  }

  #explain(ns: string): Promise<ReplyOf<'balancer.explain'>> {
    return answering('balancer.explain', async () => {
      const settings = await this.#settings()
      const { busy } = this.#operations
      const explanation = await explainCollection(
        { view: this.#view, behaviours: this.#behaviours, settings, nowMs: this.#context.now(), busy },
        ns,
      )
      return { explanation: JSON.stringify(explanation), error: null }
    })
  }

  #rebalance({ ns, min }: RequestOf<'balancer.rebalance-chunk'>): Promise<ReplyOf<'balancer.rebalance-chunk'>> {
    return answering('balancer.rebalance-chunk', async () => {
      const settings = await this.#settings()
      if (typeof settings !== 'string')
        await rebalanceChunk({ view: this.#view, operations: this.#operations, settings, nowMs: this.#context.now() }, ns, min)
      return { error: null }
    })
  }

  async #mergeAutomatically(): Promise<void> {
    const startedAtMs = this.#context.now()
    try {
      await this.#autoMerger.run(() => this.#settings())
    } catch (error) {
      this.#context.log('warn', 'chunks were not merged', { reason: reasonOf(error) })
    } finally {
      if (!this.#stopping.signal.aborted)
        this.#context.setTimer(autoMergerTimer, Math.max(0, startedAtMs + this.#autoMerger.intervalMs - this.#context.now()))
    }
  }

  async #status(): Promise<ReplyOf<'balancer.status'>> {
    const settings = await this.#settings().catch((error: unknown) => {
      if (error instanceof RequestFailedError) return this.#lastSettings
      throw error
    })
    const { mode } = typeof settings === 'string' ? this.#lastSettings : settings
    return { mode, inBalancerRound: this.#running !== null, numBalancerRounds: this.#rounds }
  }

  async #settings(): Promise<BalancerSettings | string> {
    const options = { timeoutMs: configTimeoutMs, signal: this.#stopping.signal }
    const { settings } = await this.#context.request(configAddress, 'config.get-balancer-settings', {}, options)
    const parsed = parseSettings(settings)
    if (typeof parsed !== 'string') this.#lastSettings = parsed
    return parsed
  }

  describe(): Record<string, unknown> {
    return { rounds: this.#rounds, inRound: this.#running !== null }
  }
}

/** @throws whatever is none of the failures that a cluster has */
function reasonOf(error: unknown): string {
  if (error instanceof RequestFailedError || error instanceof StepFailedError || error instanceof CommandError) return error.message
  throw error
}
