/**
 * The balancer role: wakes once a round, reads whether it may work, and answers for its state. Which chunks move is decided
 * by policies, which come with migrations: a round of this version finds nothing to do.
 * Server: balancer.cpp. Manual: core/sharding-balancer-administration.
 */
import {
  configAddress,
  RequestFailedError,
  StepFailedError,
  UnservedMessageError,
  type Actor,
  type ActorContext,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { decode } from '@shardlab/bson'

export interface BalancerOptions {
  /** Pause between rounds, in milliseconds. */
  readonly roundIntervalMs: number
}

type BalancerMode = 'full' | 'off'

/** Longest wait for the config server within a round. */
const settingsTimeoutMs = 10_000

export function createBalancer(context: ActorContext, options: BalancerOptions): Actor {
  return new Balancer(context, options)
}

class Balancer implements Actor {
  readonly #context: ActorContext
  readonly #options: BalancerOptions
  #rounds = 0
  #inRound = false
  /** What the settings said last: the answer while the config server is away. */
  #lastMode: BalancerMode = 'full'

  constructor(context: ActorContext, options: BalancerOptions) {
    this.#context = context
    this.#options = options
  }

  start(): void {
    this.#context.setTimer('round', this.#options.roundIntervalMs)
  }

  async wake(timer: string): Promise<void> {
    if (timer !== 'round') return
    this.#inRound = true
    try {
      if ((await this.#mode()) === 'full') {
        await this.#context.reach('balancer.round.started')
        this.#rounds++
      }
    } catch (error) {
      if (error instanceof RequestFailedError)
        this.#context.log('warn', 'a balancer round found no config server', { reason: error.reason })
      else if (error instanceof StepFailedError) this.#context.log('warn', 'a balancer round failed', { step: error.step })
      else throw error
    } finally {
      this.#inRound = false
      this.#context.setTimer('round', this.#options.roundIntervalMs)
    }
  }

  receive<K extends MessageKind>(kind: K, _request: RequestOf<K>): Promise<ReplyOf<K>> {
    if (kind !== 'balancer.status') throw new UnservedMessageError(this.#context.address, kind)
    return this.#status() as Promise<ReplyOf<K>>
  }

  async #status(): Promise<ReplyOf<'balancer.status'>> {
    const mode = await this.#mode().catch((error: unknown) => {
      if (error instanceof RequestFailedError) return this.#lastMode
      throw error
    })
    return { mode, inBalancerRound: this.#inRound, numBalancerRounds: this.#rounds }
  }

  async #mode(): Promise<BalancerMode> {
    const { settings } = await this.#context.request(configAddress, 'config.get-balancer-settings', {}, { timeoutMs: settingsTimeoutMs })
    const { mode, stopped } = settings === null ? {} : decode(settings)
    this.#lastMode = stopped === true || mode === 'off' ? 'off' : 'full'
    return this.#lastMode
  }

  describe(): Record<string, unknown> {
    return { rounds: this.#rounds, inRound: this.#inRound }
  }
}
