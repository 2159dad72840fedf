import {
  RequestFailedError,
  type CancelSignal,
  type ErrorField,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { raiseError, type NodeHost } from '@shardlab/node'
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

export interface Patience {
  readonly signal: CancelSignal
  /** @throws CommandError when no request should be sent any more */
  check(): void
  /** After this, replies are useless; null: never. */
  deadlineMs(): number | null
}

export function participantsOf({ donors, recipients }: ReshardingOperation): string[] {
  return [...new Set([...donors, ...recipients])]
}

export class Participants {
  readonly #node: NodeHost
  readonly #patience: Patience

  constructor(node: NodeHost, patience: Patience) {
    this.#node = node
    this.#patience = patience
  }

  /**
   * Retries until the participant has replied: requests are idempotent.
   * @throws CommandError of the participant, or of {@link Patience.check}
   * @throws RequestFailedError when it is unreachable
   */
  async ask<K extends MessageKind>(shard: string, kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> {
    const { context } = this.#node
    const { signal } = this.#patience
    for (let attempt = 1; ;) {
      this.#patience.check()
      const deadlineMs = this.#patience.deadlineMs()
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
   * Resolves when all have acknowledged the decision.
   * @throws RequestFailedError only when the member shuts down
   */
  async settle(operation: ReshardingOperation, attempt: number, committed: boolean): Promise<void> {
    const { context, stopping } = this.#node
    const tell = async (shard: string) => {
      while (!(await this.settleOnce(shard, operation, attempt, committed)))
        await context.sleep(retryPauseMs, stopping.signal)
    }
    await context.all(participantsOf(operation).map(tell))
  }

  /** @returns false: the shard did not acknowledge */
  async settleOnce(
    shard: string,
    { id, ns, sourceUuid }: ReshardingOperation,
    attempt: number,
    committed: boolean,
  ): Promise<boolean> {
    const request = { reshardingId: id, attempt, ns, sourceUuid, committed }
    try {
      const { error } = await this.#node.context.request(shard, 'shard.settle-resharding', request, {
        timeoutMs: answerTimeoutMs,
      })
      return error === null
    } catch (error) {
      if (error instanceof RequestFailedError) return false
      throw error
    }
  }
}
