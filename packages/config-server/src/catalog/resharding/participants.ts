import {
  RequestFailedError,
  type CancelSignal,
  type ErrorField,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { raiseError } from '@shardlab/node'
import type { CatalogHost } from '../host.js'
import type { ReshardingOperation } from './operation.js'

/** Of one request; `retryPauseMs`: the pause before the next one. */
const answerTimeoutMs = 15_000
const retryPauseMs = 250
/**
 * Attempts to reach a participant, and the pause between them: broken connections usually recover
 * soon.
 */
const attemptsMax = 3
const attemptPauseMs = 50

export interface RequestLimits {
  readonly signal: CancelSignal
  /** @throws CommandError when no request should be sent any more */
  check(): void
  /** After this, replies are useless; null: never. */
  deadlineMs(): number | null
}

export interface Outcome {
  /** The last one that it applies to. */
  readonly attempt: number
  readonly committed: boolean
}

export function participantsOf({ donors, recipients }: ReshardingOperation): string[] {
  return [...new Set([...donors, ...recipients])]
}

export class Participants {
  readonly #catalog: CatalogHost
  readonly #limits: RequestLimits

  constructor(catalog: CatalogHost, limits: RequestLimits) {
    this.#catalog = catalog
    this.#limits = limits
  }

  /**
   * Retries until the participant has replied: requests are idempotent.
   * @throws CommandError of the participant, or of {@link RequestLimits.check}
   * @throws RequestFailedError when it is unreachable
   */
  async ask<K extends MessageKind>(shard: string, kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> {
    const { context } = this.#catalog.node
    const { signal } = this.#limits
    for (let attempt = 1; ;) {
      this.#limits.check()
      const deadlineMs = this.#limits.deadlineMs()
      const timeoutMs =
        deadlineMs === null ? answerTimeoutMs : Math.min(answerTimeoutMs, Math.max(1, deadlineMs - context.now()))
      try {
        const reply = await context.request(shard, kind, request, { timeoutMs, signal })
        raiseError((reply as { readonly error: ErrorField }).error)
        return reply
      } catch (error) {
        if (!(error instanceof RequestFailedError) || error.reason === 'cancelled') throw error
        if (error.reason !== 'timed-out') {
          if (++attempt > attemptsMax) throw error
          await context.sleep(attemptPauseMs, signal)
        }
      }
    }
  }

  /**
   * Resolves when each of the shards has acknowledged the outcome or left the cluster.
   * @throws RequestFailedError only when the member shuts down
   */
  async announce(shards: readonly string[], operation: ReshardingOperation, outcome: Outcome): Promise<void> {
    const { context, stopping } = this.#catalog.node
    const announce = async (shard: string) => {
      while (this.#isMember(shard) && !(await this.announceOnce(shard, operation, outcome)))
        await context.sleep(retryPauseMs, stopping.signal)
    }
    await context.all(shards.map(announce))
  }

  /** @returns false: the shard did not acknowledge */
  async announceOnce(
    shard: string,
    { id, ns, sourceUuid }: ReshardingOperation,
    { attempt, committed }: Outcome,
  ): Promise<boolean> {
    const request = { reshardingId: id, attempt, ns, sourceUuid, committed }
    try {
      const { error } = await this.#catalog.node.context.request(shard, 'shard.apply-resharding-outcome', request, {
        timeoutMs: answerTimeoutMs,
      })
      return error === null
    } catch (error) {
      if (error instanceof RequestFailedError) return false
      throw error
    }
  }

  #isMember(shard: string): boolean {
    return this.#catalog.store.get('config.shards', shard) !== null
  }
}
