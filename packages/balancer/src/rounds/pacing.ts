/** Server: balancer.cpp, kBalanceRoundDefaultInterval, balancerMigrationsThrottlingMs. */
import { LinkedAbort, RequestFailedError, type ActorContext, type CancelSignal } from '@shardlab/actor'
import type { Behaviours } from '@shardlab/sharding'
import { processedIn } from './round-details.js'
import type { RoundResult } from './round.js'
import type { SettingsReader } from '../settings/settings-reader.js'

/** Factor between the long and the short round interval. Server: 10 s and 1 s. */
const haste = 10

export class Pacing {
  readonly #context: ActorContext
  readonly #behaviours: Behaviours
  readonly #settings: SettingsReader
  readonly #roundIntervalMs: number
  readonly #stopping: CancelSignal
  #lastMigrationAtMs = 0
  /** Aborting it ends the pause in progress; null: none. */
  #pausing: LinkedAbort | null = null
  /** Callers that wait for a round of their own. Rounds do not pause then. */
  #waiting = 0

  constructor(
    context: ActorContext,
    {
      behaviours,
      settings,
      roundIntervalMs,
      stopping,
    }: {
      readonly behaviours: Behaviours
      readonly settings: SettingsReader
      readonly roundIntervalMs: number
      readonly stopping: CancelSignal
    },
  ) {
    this.#context = context
    this.#behaviours = behaviours
    this.#settings = settings
    this.#roundIntervalMs = roundIntervalMs
    this.#stopping = stopping
  }

  /** Rounds do not pause until `over` resolves. */
  async hurry(over: () => Promise<void>): Promise<void> {
    this.#waiting++
    this.#pausing?.abort()
    try {
      await over()
    } finally {
      this.#waiting--
    }
  }

  /**
   * For versions that pause before migrations instead of between rounds.
   * @returns the length of the pause in ms
   * @throws RequestFailedError when the member shuts down
   */
  async pause(): Promise<number> {
    if (!this.#behaviours.balancerPausesWithinRounds) return 0
    const pauseMs = this.#shortPauseMs - (this.#context.now() - this.#lastMigrationAtMs)
    if (pauseMs <= 0 || this.#waiting > 0) return 0
    const startedAtMs = this.#context.now()
    const pausing = (this.#pausing = new LinkedAbort(this.#stopping))
    try {
      await this.#context.sleep(pauseMs, pausing.signal)
    } catch (error) {
      if (!(error instanceof RequestFailedError) || this.#stopping.aborted) throw error
    } finally {
      pausing.unlink()
      this.#pausing = null
    }
    return this.#context.now() - startedAtMs
  }

  /**
   * @param result null: the round was skipped
   * @returns ms until the next round
   */
  untilNext(result: RoundResult | null): number {
    if (result === null || result.migrations.length === 0) return this.#roundIntervalMs
    this.#lastMigrationAtMs = this.#context.now()
    if (this.#behaviours.balancerPausesWithinRounds) return 0
    return processedIn(result) > 0 ? this.#shortPauseMs : this.#roundIntervalMs
  }

  get #shortPauseMs(): number {
    return this.#settings.pauses.migrationsMs ?? Math.ceil(this.#roundIntervalMs / haste)
  }
}
