/**
 * A transaction of this router: the shards that take part in it. Server: transaction_router.cpp;
 * manual: core/sharded-transactions.
 */
import type { ActorContext, Address, TimestampPair } from '@shardlab/actor'
import { CommandError, DocumentWriter, ErrorCodes, FieldIterator, findField, firstFieldName } from '@shardlab/bson'
import { ActivityClock, type RunningOperation, type SessionId } from '@shardlab/member'
import { isOk } from '../remote/command-reply.js'
import type { CommitType, RouterTransactionStatistics } from './router-transaction-statistics.js'

export interface Participant {
  readonly shard: Address
  readonly isCoordinator: boolean
  /** The statement of the transaction that was sent to it first. */
  readonly since: number
  /** Whether it has written nothing. Null: it has not answered yet. */
  isReadOnly: boolean | null
  /** Its last reply was an error, after which it has aborted. */
  hasFailed: boolean
}

/** How a transaction ends on this router. */
export type RouterOutcome = 'open' | 'committing' | 'aborted'

/** These already have the fields of the transaction. */
const endingCommands: ReadonlySet<string> = new Set([
  'abortTransaction',
  'commitTransaction',
  'coordinateCommitTransaction',
])

/** Of commands in a transaction. A write concern is that of its commit. */
const transactionFields: ReadonlySet<string> = new Set([
  'autocommit',
  'coordinator',
  'lsid',
  'readConcern',
  'startTransaction',
  'txnNumber',
  'writeConcern',
])

export class RouterTransaction {
  readonly session: SessionId
  readonly txnNumber: bigint
  /** Whether this router has run statements of it. Otherwise it is only asked to commit. */
  readonly isKnown: boolean
  outcome: RouterOutcome = 'open'
  readonly clock: ActivityClock
  /** Its command that runs. Null: it is inactive. */
  operation: RunningOperation | null = null
  /** Of the last command. */
  connectionId = 0
  /** Null: its commit has not begun. */
  commit: { readonly type: CommitType; readonly beganAtMs: number } | null = null
  /** Whether the router runs it for a single command, which is not a commit. */
  isInternal = false
  /** Of the shards, in the order of their first statement. */
  #participants = new Map<Address, Participant>()
  /** The first shard that has written. Null: none. */
  recoveryShard: Address | null = null
  #statement = 0
  #readConcern: Uint8Array | null = null
  /** The one time of all shards. Null: each shard selects its own. */
  snapshotTime: TimestampPair | null = null
  /** The stale error after which its participants have begun again last. Null: they have not. */
  restartCause: CommandError | null = null
  /** Participants of a statement that is routed again are aborting, or their abort has failed. */
  #cleaning: Promise<unknown> | null = null
  /** Statements that were sent and are not answered. */
  readonly #unanswered = new Set<Promise<unknown>>()

  readonly #statistics: RouterTransactionStatistics

  constructor(
    session: SessionId,
    txnNumber: bigint,
    isKnown: boolean,
    statistics: RouterTransactionStatistics,
    startedAtMs: number,
  ) {
    this.clock = new ActivityClock(startedAtMs)
    this.#statistics = statistics
    this.session = session
    this.txnNumber = txnNumber
    this.isKnown = isKnown
  }

  get readConcern(): Uint8Array | null {
    return this.#readConcern
  }

  get participants(): readonly Participant[] {
    return [...this.#participants.values()]
  }

  /** Null: no shard takes part. */
  get coordinator(): Participant | null {
    return this.participants.find(({ isCoordinator }) => isCoordinator) ?? null
  }

  /**
   * Called before each statement.
   * @param snapshotTime the one time of all shards; null: each shard selects its own
   */
  beginStatement(readConcern: Uint8Array | null, snapshotTime: TimestampPair | null): void {
    this.#statement++
    if (this.#statement > 1) return
    this.snapshotTime = snapshotTime
    if (snapshotTime === null) this.#readConcern = readConcern
    else {
      const [seconds, increment] = snapshotTime
      const writer = new DocumentWriter(96).string('level', 'snapshot')
      this.#readConcern = writer.timestamp('atClusterTime', seconds, increment).finish()
    }
  }

  /** Runs a command of the transaction, as the operation that is reported to be active in it. */
  async during<T>(
    operation: RunningOperation & { transaction: RouterTransaction | null },
    context: Pick<ActorContext, 'now'>,
    run: () => T | Promise<T>,
  ): Promise<T> {
    operation.transaction = this
    this.operation = operation
    this.clock.begin(context.now())
    try {
      return await run()
    } finally {
      this.operation = null
      this.clock.end(context.now())
    }
  }

  /** @param answer of a shard to a statement */
  expect<R>(answer: Promise<R>): Promise<R> {
    const note = (): void => void this.#unanswered.delete(settled)
    const settled: Promise<void> = answer.then(note, note)
    this.#unanswered.add(settled)
    return answer
  }

  /**
   * Resolves when the shards have aborted what a statement did before it was routed again.
   * @throws CommandError a shard did not
   */
  get ready(): Promise<unknown> | null {
    return this.#cleaning
  }

  /** Whether the command has the fields of the transaction already. */
  isEnding(body: Uint8Array): boolean {
    return endingCommands.has(firstFieldName(body) ?? '')
  }

  /**
   * The command as it is sent to a shard, or to a member of one.
   * @param pinned a getMore to the member with the cursor
   */
  bodyFor(to: Address, body: Uint8Array, pinned: boolean): Uint8Array {
    this.#statistics.requestsTargeted++
    const known = pinned || this.#participants.has(to)
    const writer = new DocumentWriter(body.length + 160)
    for (const it = new FieldIterator(body); it.next();)
      if (!transactionFields.has(it.name())) writer.value(it.name(), it.value())
    if (!known) {
      this.#statistics.contactedParticipants++
      if (this.#readConcern !== null) writer.document('readConcern', this.#readConcern)
      writer.bool('startTransaction', true)
      const isCoordinator = this.#participants.size === 0
      if (isCoordinator) writer.bool('coordinator', true)
      this.#participants.set(to, {
        shard: to,
        isCoordinator,
        since: this.#statement,
        isReadOnly: null,
        hasFailed: false,
      })
    }
    return this.writeFields(writer).finish()
  }

  writeFields(writer: DocumentWriter): DocumentWriter {
    return writer.document('lsid', this.session.document).int64('txnNumber', this.txnNumber).bool('autocommit', false)
  }

  /** @returns the reply without the fields for routers */
  noteReply(from: Address, body: Uint8Array): Uint8Array {
    const participant = this.#participants.get(from)
    const readOnly = findField(body, 'readOnly')
    if (participant !== undefined && this.outcome === 'open') {
      participant.hasFailed = !isOk(body) && !continuesAfter(body)
      if (readOnly?.isTruthy() === false) {
        participant.isReadOnly = false
        this.recoveryShard ??= from
      } else if (readOnly !== undefined) participant.isReadOnly ??= true
    }
    if (readOnly === undefined) return body
    const writer = new DocumentWriter(body.length)
    for (const it = new FieldIterator(body); it.next();)
      if (it.name() !== 'readOnly') writer.value(it.name(), it.value())
    return writer.finish()
  }

  /**
   * The routing of the statement was stale. Only the first statement may be routed again: no shard
   * has a snapshot that another one has to match.
   * @param abort rejects unless all shards have aborted
   * @throws CommandError the stale error
   */
  restart(error: CommandError, abort: (shards: readonly Address[]) => Promise<unknown>): void {
    if (this.#statement > 1) throw error
    this.restartCause = error
    const shards = [...this.#participants.keys()]
    this.#participants = new Map()
    this.recoveryShard = null
    if (shards.length === 0) return
    // A statement that arrives after the abort would begin on its shard again.
    const cleaning = Promise.all(this.#unanswered).then(async () => {
      await abort(shards)
      if (this.#cleaning === cleaning) this.#cleaning = null
    })
    // The next statement fails with the error.
    cleaning.catch(() => {})
    this.#cleaning = cleaning
  }

  writeRecoveryToken(writer: DocumentWriter): void {
    writer.startDocument('recoveryToken')
    if (this.recoveryShard !== null) writer.string('recoveryShardId', this.recoveryShard)
    writer.end()
  }
}

/** The router resolves a view, or moves the document, and continues. */
function continuesAfter(reply: Uint8Array): boolean {
  const code = findField(reply, 'code')?.asNumber()
  return code === ErrorCodes.CommandOnShardedViewNotSupportedOnMongod || code === ErrorCodes.WouldChangeOwningShard
}
