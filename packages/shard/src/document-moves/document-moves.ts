/** Both sides of document moves, and the timer that completes interrupted ones. */
import { RequestFailedError, type ActorContext } from '@shardlab/actor'
import { CommandError, hexOf, sameBytes } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import { MoveCoordinator, type Decision } from './move-coordinator.js'
import { PreparedInserts } from './prepared-inserts.js'

export const documentMovesTimer = 'document-moves'

const retryMs = 1000
/** Between deletions of old decisions. */
const cleanupIntervalMs = 60_000
const outcomeTimeoutMs = 15_000
/** Longest wait of a write for the outcome of undecided moves. */
const writersWaitMs = 15_000
const askPauseMs = 50

/** Decided moves that routers may still ask for. */
export interface RecentMoves {
  readonly decisions: readonly Decision[]
  readonly dueMs: number
}

export class DocumentMoves {
  readonly coordinator: MoveCoordinator
  readonly preparedInserts: PreparedInserts
  readonly #node: NodeHost
  readonly #context: ActorContext
  #working = false
  /**
   * By the hex of the collection's UUID: the running request for outcomes, and the next one for
   * later callers.
   */
  readonly #asking = new Map<string, { readonly now: Promise<boolean>; next: Promise<boolean> | null }>()
  /** Infinite: the timer is not armed. */
  #dueMs = Number.POSITIVE_INFINITY

  constructor(node: NodeHost) {
    this.#node = node
    this.#context = node.context
    this.coordinator = new MoveCoordinator(node)
    this.preparedInserts = new PreparedInserts(node)
  }

  /** Call after the node has recovered its state. */
  start(): void {
    this.coordinator.recover()
    this.preparedInserts.recover()
    if (!this.coordinator.isEmpty || this.preparedInserts.all().length > 0) this.arm(0)
  }

  get isBusy(): boolean {
    return this.coordinator.isBusy || !this.preparedInserts.isEmpty
  }

  /** No document may be moving. */
  export(): RecentMoves {
    return { decisions: this.coordinator.export(), dueMs: this.#dueMs }
  }

  /** Call instead of {@link start}. */
  import({ decisions, dueMs }: RecentMoves): void {
    this.coordinator.import(decisions)
    this.#dueMs = dueMs
  }

  /** Completes interrupted moves after the delay. */
  arm(delayMs = retryMs): void {
    const dueMs = this.#context.now() + delayMs
    if (dueMs >= this.#dueMs) return
    this.#dueMs = dueMs
    this.#context.setTimer(documentMovesTimer, delayMs)
  }

  /**
   * For a command that enters a collection: resolves when the documents of decided moves are
   * visible, even if this shard has not received the decision. Reads do not wait for a coordinator
   * that does not answer; writes do, for a limited time.
   * @returns undefined: no documents are moving into the collection
   */
  awaitDecided(ns: string, isRead: () => boolean): Promise<void> | undefined {
    const uuid = this.preparedInserts.isEmpty ? undefined : this.#node.collection(ns)?.uuid
    if (uuid === undefined || this.preparedInserts.hiddenIn(uuid) === undefined) return undefined
    const key = hexOf(uuid)
    return this.#awaitOutcomes(key, uuid, isRead() ? 0 : writersWaitMs)
  }

  async #awaitOutcomes(key: string, uuid: Uint8Array, patienceMs: number): Promise<void> {
    const untilMs = this.#context.now() + patienceMs
    while (!(await this.#askOnce(key, uuid)) && this.#context.now() < untilMs) await this.#context.sleep(askPauseMs)
  }

  #askOnce(key: string, uuid: Uint8Array): Promise<boolean> {
    const asking = this.#asking.get(key)
    if (asking === undefined) return this.#ask(key, uuid)
    // Answers to the running request may be older than the decision.
    asking.next ??= asking.now.then(() => this.#ask(key, uuid))
    return asking.next
  }

  #ask(key: string, uuid: Uint8Array): Promise<boolean> {
    const now = this.#askForOutcomes(uuid).finally(() => this.#asking.delete(key))
    this.#asking.set(key, { now, next: null })
    return now
  }

  async wake(): Promise<void> {
    this.#dueMs = Number.POSITIVE_INFINITY
    if (this.#working) return this.arm()
    this.#working = true
    try {
      const left = await this.coordinator.work()
      await this.#askForOutcomes()
      if (left === 'unfinished' || this.preparedInserts.all().length > 0) this.arm()
      else if (left === 'retaining') this.arm(cleanupIntervalMs)
    } finally {
      this.#working = false
    }
  }

  /**
   * @param uuid of the collection; default: all collections.
   * @returns whether every coordinator has answered
   */
  async #askForOutcomes(uuid?: Uint8Array): Promise<boolean> {
    let all = true
    for (const { attemptId, coordinator, collectionUuid } of this.preparedInserts.all()) {
      if (uuid !== undefined && !sameBytes(uuid, collectionUuid)) continue
      try {
        const { outcome, clusterTime } = await this.#context.request(
          coordinator,
          'shard.document-move-outcome',
          { attemptId },
          { timeoutMs: outcomeTimeoutMs },
        )
        if (outcome === 'pending') continue
        this.#node.clock.advance(clusterTime)
        this.preparedInserts.decide(attemptId, outcome === 'committed')
        await this.#node.flushToMajority()
      } catch (error) {
        // The coordinator sends the decision later; the next write flushes unwritten entries.
        if (!(error instanceof RequestFailedError) && !(error instanceof CommandError)) throw error
        all = false
      }
    }
    return all
  }
}
