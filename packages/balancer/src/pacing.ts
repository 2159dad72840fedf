/** How long the balancer pauses between rounds, and before it moves something. Server: balancer.cpp, kBalanceRoundDefaultInterval, balancerMigrationsThrottlingMs. */
import { LinkedAbort, RequestFailedError, type ActorContext, type CancelSignal } from '@shardlab/actor'
import type { Behaviours } from '@shardlab/sharding'
import { processedIn } from './round-details.js'
import type { RoundResult } from './round.js'
import type { SettingsReader } from './settings-reader.js'

/** How many times faster rounds follow each other when there is something to move. Server: 10 s and 1 s. */
const haste = 10

export class Pacing {
  readonly #context: ActorContext
  readonly #behaviours: Behaviours
  readonly #settings: SettingsReader
  readonly #roundIntervalMs: number
  readonly #stopping: CancelSignal
  #lastMigrationAtMs = 0
  /** While a round pauses: aborting it ends that. */
  #pausing: LinkedAbort | null = null
  /** Who waits for a round of their own: meanwhile no round pauses. */
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

  /** No round pauses until `over` has answered. */
  async hurry(over: () => Promise<void>): Promise<void> {
    this.#waiting++
    this.#pausing?.abort()
    try {
      await over()
    } finally {
      this.#waiting--
    }
  }

  /** Before migrations, where the version does not pause between rounds. @returns for how long, in ms. @throws RequestFailedError at the end of the member */
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

  /** @param result null: the round looked at nothing. @returns ms until the next one */
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
