/** How the coordinator of a resharding talks to the shards that take part. */
import {
  RequestFailedError,
  type CancelSignal,
  type ErrorField,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { raiseError, type StorageNode } from '@shardlab/node'
import type { ReshardingOperation } from './operation.js'

/** Longest wait for one answer of a participant, and the pause before it is asked again. */
const answerTimeoutMs = 15_000
const retryPauseMs = 250
/** How often a participant is asked that cannot be reached, and the pause between: a connection that broke is soon there again. */
const attemptsMax = 3
const attemptPauseMs = 50

/** What may end a question early. */
export interface Patience {
  readonly signal: CancelSignal
  /** @throws CommandError when nothing is to be asked any more */
  check(): void
  /** When an answer is of no use any more; null: it always is. */
  deadlineMs(): number | null
}

/** Donors and recipients, each once. */
export function participantsOf({ donors, recipients }: ReshardingOperation): string[] {
  return [...new Set([...donors, ...recipients])]
}

export class Participants {
  readonly #node: StorageNode
  readonly #patience: Patience

  constructor(node: StorageNode, patience: Patience) {
    this.#node = node
    this.#patience = patience
  }

  /** Asks until the participant has answered; what it is asked does no harm when it comes twice. @throws CommandError of the participant, or of {@link Patience.check}; RequestFailedError when it is away */
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

  /** Resolves when all have heard how it was decided. @throws RequestFailedError only when the member shuts down */
  async settle(operation: ReshardingOperation, attempt: number, committed: boolean): Promise<void> {
    const { context, stopping } = this.#node
    const tell = async (shard: string) => {
      while (!(await this.settleOnce(shard, operation, attempt, committed)))
        await context.sleep(retryPauseMs, stopping.signal)
    }
    await context.all(participantsOf(operation).map(tell))
  }

  /** False: it has not heard it. */
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
