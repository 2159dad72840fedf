/** Documents that change their owner because their shard key value changes: both sides of it, and the timer that ends what is left open. */
import { RequestFailedError, type ActorContext } from '@shardlab/actor'
import { CommandError, hexOf, sameBytes } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import { MoveCoordinator, type Decision } from './move-coordinator.js'
import { PreparedInserts } from './prepared-inserts.js'

export const documentMovesTimer = 'document-moves'

/** Between two attempts to end what somebody has left open. */
const retryMs = 1000
/** Between two looks for what can be forgotten. */
const cleanupIntervalMs = 60_000
const outcomeTimeoutMs = 15_000
/** How long writers wait for a coordinator that is away, and the pause between two questions. */
const writersWaitMs = 15_000
const askPauseMs = 50

/** Moves of which routers may still ask. */
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
  /** By the hex of the collection's UUID: coordinators are being asked, and will be once more for those who came later. */
  readonly #asking = new Map<string, { readonly now: Promise<boolean>; next: Promise<boolean> | null }>()
  /** When the timer rings; infinite: it is not armed. */
  #dueMs = Number.POSITIVE_INFINITY

  constructor(node: NodeHost) {
    this.#node = node
    this.#context = node.context
    this.coordinator = new MoveCoordinator(node)
    this.preparedInserts = new PreparedInserts(node)
  }

  /** After the node has its state back. */
  start(): void {
    this.coordinator.recover()
    this.preparedInserts.recover()
    if (!this.coordinator.isEmpty || this.preparedInserts.all().length > 0) this.arm(0)
  }

  /** Does any document move? */
  get isBusy(): boolean {
    return this.coordinator.isBusy || !this.preparedInserts.isEmpty
  }

  /** What is remembered. No document may be moving. */
  export(): RecentMoves {
    return { decisions: this.coordinator.export(), dueMs: this.#dueMs }
  }

  /** Instead of {@link start}. */
  import({ decisions, dueMs }: RecentMoves): void {
    this.coordinator.import(decisions)
    this.#dueMs = dueMs
  }

  /** Looks after what is open when so much time has passed. */
  arm(delayMs = retryMs): void {
    const dueMs = this.#context.now() + delayMs
    if (dueMs >= this.#dueMs) return
    this.#dueMs = dueMs
    this.#context.setTimer(documentMovesTimer, delayMs)
  }

  /**
   * For a command that is about to enter a collection: resolves when every document whose move was decided before is seen there, also if
   * this shard has not been told. A coordinator that is away decides later what writers meet: they wait for it a while.
   * Undefined: nobody is moving documents into the collection.
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

  /** Whether every coordinator that was asked has answered. */
  #askOnce(key: string, uuid: Uint8Array): Promise<boolean> {
    const asking = this.#asking.get(key)
    if (asking === undefined) return this.#ask(key, uuid)
    // The answers that are on their way may be older than the decision.
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

  /** @param uuid of the collection; default: all. @returns whether all have answered */
  async #askForOutcomes(uuid?: Uint8Array): Promise<boolean> {
    let all = true
    for (const { attemptId, coordinator, collectionUuid } of this.preparedInserts.all()) {
      if (uuid !== undefined && !sameBytes(uuid, collectionUuid)) continue
      try {
        const { outcome } = await this.#context.request(
          coordinator,
          'shard.document-move-outcome',
          { attemptId },
          { timeoutMs: outcomeTimeoutMs },
        )
        if (outcome === 'pending') continue
        this.preparedInserts.decide(attemptId, outcome === 'committed')
        await this.#node.flush()
      } catch (error) {
        // The coordinator tells it when it is back; what is not on the disk yet goes there with the next write.
        if (!(error instanceof RequestFailedError) && !(error instanceof CommandError)) throw error
        all = false
      }
    }
    return all
  }
}
