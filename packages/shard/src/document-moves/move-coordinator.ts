/**
 * One record decides a move, written together with the deletion: before it the move counts as
 * aborted, after it the move is completed despite crashes.
 * Server: transaction_coordinator.cpp, config.transaction_coordinators.
 */
import { RequestFailedError } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField, hexOf } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import { RecordStore } from '../common/record-store.js'
import { attemptValue, readAttemptId } from './prepared-inserts.js'

/** Finished moves are kept for repeated requests of routers. */
const retentionMs = 60_000

const decisionTimeoutMs = 15_000

export interface Decision {
  readonly attemptId: string
  readonly requestId: string
  readonly recipient: string
  /** When the recipient acknowledged the decision; null: not yet. */
  finishedAtMs: number | null
}

export class MoveCoordinator {
  readonly #node: NodeHost
  readonly #records: RecordStore
  readonly #decisions = new Map<string, Decision>()
  /** Attempts since the start without a decision on the disk. */
  readonly #pending = new Set<string>()
  readonly #running = new Map<string, Promise<void>>()
  /** The last queued move of each document. */
  readonly #turns = new Map<string, Promise<void>>()

  constructor(node: NodeHost) {
    this.#node = node
    this.#records = new RecordStore(node, 'config.transaction_coordinators')
  }

  recover(): void {
    for (const document of this.#records.all()) {
      // The others are those of transactions.
      if (findField(document, 'request') === undefined) continue
      const attemptId = readAttemptId(document)
      const requestId = findField(document, 'request')!.asString()
      const recipient = findField(document, 'recipient')!.asString()
      this.#decisions.set(attemptId, { attemptId, requestId, recipient, finishedAtMs: null })
    }
  }

  get isBusy(): boolean {
    return this.#pending.size > 0 || [...this.#decisions.values()].some(({ finishedAtMs }) => finishedAtMs === null)
  }

  export(): readonly Decision[] {
    return [...this.#decisions.values()].map((decision) => ({ ...decision }))
  }

  /** Call instead of {@link recover}. */
  import(decisions: readonly Decision[]): void {
    for (const decision of decisions) this.#decisions.set(decision.attemptId, { ...decision })
  }

  get isEmpty(): boolean {
    return this.#decisions.size === 0
  }

  /** Runs a request once, however often it is sent; not at all when it was decided earlier. */
  async once(requestId: string, work: () => Promise<void>): Promise<void> {
    for (const decision of this.#decisions.values())
      if (decision.requestId === requestId && !this.#pending.has(decision.attemptId)) return
    const running = this.#running.get(requestId) ?? work()
    this.#running.set(requestId, running)
    try {
      await running
    } finally {
      this.#running.delete(requestId)
    }
  }

  /** Serializes the moves of a document. */
  async inTurn(document: string, work: () => Promise<void>): Promise<void> {
    const before = this.#turns.get(document)
    const turn = (async () => {
      // A failure of the previous move does not concern this one.
      if (before !== undefined) await before.catch(() => {})
      await work()
    })()
    this.#turns.set(document, turn)
    try {
      await turn
    } finally {
      if (this.#turns.get(document) === turn) this.#turns.delete(document)
    }
  }

  begin(): string {
    const attemptId = hexOf(this.#node.newObjectId())
    this.#pending.add(attemptId)
    return attemptId
  }

  outcomeOf(attemptId: string): 'pending' | 'committed' | 'aborted' {
    if (this.#pending.has(attemptId)) return 'pending'
    return this.#decisions.has(attemptId) ? 'committed' : 'aborted'
  }

  /** The recipient is informed now, or when it asks. */
  abort(attemptId: string, recipient: string): void {
    this.#pending.delete(attemptId)
    this.#node.context.send(recipient, 'shard.decide-insert', {
      ...{ attemptId, committed: false },
      clusterTime: this.#node.clock.time,
    })
  }

  /** Apply the deletion before {@link commit}, so that both are in one append. */
  decide(attemptId: string, requestId: string, recipient: string): void {
    const record = new DocumentWriter(128)
      .value('_id', attemptValue(attemptId))
      .string('request', requestId)
      .string('recipient', recipient)
      .startDocument('decision')
      .string('decision', 'commit')
      .end()
      .finish()
    this.#records.put(record)
    this.#decisions.set(attemptId, { attemptId, requestId, recipient, finishedAtMs: null })
  }

  /**
   * Resolves when the decision is on the disk.
   * @throws CommandError 14031: it is not, and {@link work} retries
   */
  async commit(attemptId: string): Promise<void> {
    await this.#node.flushToMajority()
    this.#pending.delete(attemptId)
  }

  /** Informs the recipient. @returns false: it has not acknowledged, and {@link work} retries */
  async finish(attemptId: string): Promise<boolean> {
    const decision = this.#decisions.get(attemptId)
    if (decision === undefined || decision.finishedAtMs !== null) return true
    const { clock, context } = this.#node
    try {
      const request = { attemptId, committed: true, clusterTime: clock.time }
      const { error, clusterTime } = await context.request(decision.recipient, 'shard.decide-insert', request, {
        timeoutMs: decisionTimeoutMs,
      })
      if (error !== null) return false
      clock.advance(clusterTime)
    } catch (error) {
      if (error instanceof RequestFailedError) return false
      throw error
    }
    decision.finishedAtMs = context.now()
    return true
  }

  /** Completes decided moves and deletes old decisions. @returns the work that is left */
  async work(): Promise<'nothing' | 'retaining' | 'unfinished'> {
    const { context } = this.#node
    let unfinished = false
    for (const { attemptId, finishedAtMs } of [...this.#decisions.values()]) {
      if (finishedAtMs !== null) {
        if (context.now() - finishedAtMs >= retentionMs) this.#discard(attemptId)
        continue
      }
      try {
        await this.commit(attemptId)
      } catch (error) {
        if (!(error instanceof CommandError)) throw error
        unfinished = true
        continue
      }
      if (!(await this.finish(attemptId))) unfinished = true
    }
    if (unfinished) return 'unfinished'
    return this.#decisions.size > 0 ? 'retaining' : 'nothing'
  }

  #discard(attemptId: string): void {
    this.#decisions.delete(attemptId)
    this.#records.remove(attemptValue(attemptId))
  }
}
