import { configAddress, RequestFailedError, type ActorContext, type CancelSignal } from '@shardlab/actor'
import type { Behaviours } from '@shardlab/sharding'
import { configTimeoutMs } from '../cluster-view.js'
import { failedRoundDetails, roundDetails } from './round-details.js'
import type { RoundResult } from './round.js'

/** Writes to config.actionlog. A round is valid even if its entry cannot be written. */
export class RoundLog {
  readonly #context: ActorContext
  readonly #behaviours: Behaviours
  readonly #stopping: CancelSignal

  constructor(context: ActorContext, behaviours: Behaviours, stopping: CancelSignal) {
    this.#context = context
    this.#behaviours = behaviours
    this.#stopping = stopping
  }

  async ended(startedAtMs: number, result: RoundResult, cached: number): Promise<void> {
    await this.#write(roundDetails(this.#behaviours, this.#context.now() - startedAtMs, result, cached))
  }

  async failed(startedAtMs: number, reason: string): Promise<void> {
    await this.#write(failedRoundDetails(this.#behaviours, this.#context.now() - startedAtMs, reason))
  }

  async #write(details: Uint8Array): Promise<void> {
    try {
      const options = { timeoutMs: configTimeoutMs, signal: this.#stopping }
      await this.#context.request(configAddress, 'config.log-action', { what: 'balancer.round', details }, options)
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
    }
  }
}
