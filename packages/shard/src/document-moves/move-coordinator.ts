/**
 * The documents that leave this shard. A move is decided by one record, written together with the deletion: from then on it is carried to
 * its end, whoever crashes; before that, whoever asks hears that it was given up. Server: transaction_coordinator.cpp,
 * config.transaction_coordinators.
 */
import { RequestFailedError } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField, hexOf } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import { RecordStore } from '../common/record-store.js'
import { attemptValue, readAttemptId } from './prepared-inserts.js'

/** How long a finished move is remembered for routers that ask once more. */
const retentionMs = 60_000

/** Longest wait for a recipient that has been told the decision. */
const decisionTimeoutMs = 15_000

/** A move that has been decided. */
export interface Decision {
  readonly attemptId: string
  readonly requestId: string
  readonly recipient: string
  /** When the recipient had heard of it; null: it has not. */
  finishedAtMs: number | null
}

export class MoveCoordinator {
  readonly #node: NodeHost
  readonly #records: RecordStore
  readonly #decisions = new Map<string, Decision>()
  /** Attempts of this life without a decision on the disk. */
  readonly #pending = new Set<string>()
  /** Requests that are being worked on. */
  readonly #running = new Map<string, Promise<void>>()
  /** The last move in line of each document. */
  readonly #turns = new Map<string, Promise<void>>()

  constructor(node: NodeHost) {
    this.#node = node
    this.#records = new RecordStore(node, 'config.transaction_coordinators')
  }

  /** Takes over what an earlier life has decided. */
  recover(): void {
    for (const document of this.#records.all()) {
      const attemptId = readAttemptId(document)
      const requestId = findField(document, 'request')!.asString()
      const recipient = findField(document, 'recipient')!.asString()
      this.#decisions.set(attemptId, { attemptId, requestId, recipient, finishedAtMs: null })
    }
  }

  /** Is a move being made, or one that is decided not finished? */
  get isBusy(): boolean {
    return this.#pending.size > 0 || [...this.#decisions.values()].some(({ finishedAtMs }) => finishedAtMs === null)
  }

  export(): readonly Decision[] {
    return [...this.#decisions.values()].map((decision) => ({ ...decision }))
  }

  /** Instead of {@link recover}. */
  import(decisions: readonly Decision[]): void {
    for (const decision of decisions) this.#decisions.set(decision.attemptId, { ...decision })
  }

  /** Nothing is decided or remembered. */
  get isEmpty(): boolean {
    return this.#decisions.size === 0
  }

  /** Does the work of a request once, however often it is sent; nothing when it has been done in an earlier life. */
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

  /** Moves of one document follow each other. */
  async inTurn(document: string, work: () => Promise<void>): Promise<void> {
    const before = this.#turns.get(document)
    const turn = (async () => {
      // What became of the one before is its own affair.
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

  /** What recipients hear that ask. */
  outcomeOf(attemptId: string): 'pending' | 'committed' | 'aborted' {
    if (this.#pending.has(attemptId)) return 'pending'
    return this.#decisions.has(attemptId) ? 'committed' : 'aborted'
  }

  /** Gives an attempt up: the recipient hears of it now, or when it asks. */
  abort(attemptId: string, recipient: string): void {
    this.#pending.delete(attemptId)
    this.#node.context.send(recipient, 'shard.decide-insert', { attemptId, committed: false })
  }

  /** Writes the decision. What belongs to it is applied in the same turn; {@link commit} follows. */
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

  /** Resolves when the decision is on the disk. @throws CommandError 14031: it is not, {@link work} tries again */
  async commit(attemptId: string): Promise<void> {
    await this.#node.flush()
    this.#pending.delete(attemptId)
  }

  /** Tells the recipient. @returns false when it did not take it: {@link work} tries again */
  async finish(attemptId: string): Promise<boolean> {
    const decision = this.#decisions.get(attemptId)
    if (decision === undefined || decision.finishedAtMs !== null) return true
    const { context } = this.#node
    try {
      const request = { attemptId, committed: true }
      const { error } = await context.request(decision.recipient, 'shard.decide-insert', request, {
        timeoutMs: decisionTimeoutMs,
      })
      if (error !== null) return false
    } catch (error) {
      if (error instanceof RequestFailedError) return false
      throw error
    }
    decision.finishedAtMs = context.now()
    return true
  }

  /** Carries on what is decided and forgets what has long been finished. @returns whether anything is left to be done */
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
