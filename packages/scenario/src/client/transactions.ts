/** Drivers' specifications: Transactions, Convenient API for Transactions. */
import type { ActorContext, Address } from '@shardlab/actor'
import type { Document, Long } from '@shardlab/bson'
import type { Failed, Outcome, TransactionOptions, TransactionOutcome } from './types.js'

export const transientTransactionError = 'TransientTransactionError'
export const unknownCommitResult = 'UnknownTransactionCommitResult'
const retryableWriteError = 'RetryableWriteError'

const maxTimeMsExpired = 50
/** The write concern is unknown, or can never be satisfied: another attempt would not help. */
const unsatisfiableConcerns: ReadonlySet<number> = new Set([79, 100])
const majority = { w: 'majority', wtimeout: 10_000 }

/** `withTransaction` begins no further attempt after this time. */
const retryingMs = 120_000
const backoffFirstMs = 5
const backoffMaxMs = 500

export type TransactionState = 'starting' | 'inProgress' | 'committed' | 'aborted'

/** The transaction that a session began last. */
export class ClientTransaction {
  state: TransactionState = 'starting'
  /** The mongos that runs its statements; null: any. */
  pinned: Address | null = null
  readonly #txnNumber: Long
  readonly #options: TransactionOptions
  #recoveryToken: Document | null = null
  #commits = 0

  constructor(txnNumber: Long, options: TransactionOptions) {
    this.#txnNumber = txnNumber
    this.#options = options
  }

  get isActive(): boolean {
    return this.state === 'starting' || this.state === 'inProgress'
  }

  /** Adds the fields of the transaction to a command that is about to be sent. */
  decorate(body: Document, name: string): void {
    body['txnNumber'] = this.#txnNumber
    body['autocommit'] = false
    if (isEnd(name)) {
      if (this.#recoveryToken !== null) body['recoveryToken'] = this.#recoveryToken
      const { writeConcern } = this.#options
      if (name === 'commitTransaction' && this.#commits++ > 0) body['writeConcern'] = { ...writeConcern, ...majority }
      else if (writeConcern !== undefined) body['writeConcern'] = writeConcern
      return
    }
    if (this.state !== 'starting') {
      delete body['readConcern']
      return
    }
    this.state = 'inProgress'
    body['startTransaction'] = true
    const readConcern = { ...this.#options.readConcern, ...(body['readConcern'] as Document | undefined) }
    if (Object.keys(readConcern).length > 0) body['readConcern'] = readConcern
  }

  /** Not of its end: a router that does not know the transaction replies with an empty token. */
  learn(reply: Document): void {
    if (!this.isActive) return
    this.#recoveryToken = (reply['recoveryToken'] as Document | undefined) ?? this.#recoveryToken
  }

  /** Adds the labels that are the driver's task, and unpins after an error that asks for it. */
  labelled(outcome: Outcome, name: string): Outcome {
    if (outcome.ok) return outcome
    const label =
      name === 'commitTransaction'
        ? isUnknownCommit(outcome)
          ? unknownCommitResult
          : null
        : outcome.kind === 'network' || outcome.kind === 'selection'
          ? transientTransactionError
          : null
    const labels = label === null ? outcome.labels : [...outcome.labels, label]
    if (labels.includes(transientTransactionError) || labels.includes(unknownCommitResult)) this.pinned = null
    return { ...outcome, labels }
  }
}

export const isEnd = (name: string): boolean => name === 'commitTransaction' || name === 'abortTransaction'

function isUnknownCommit({ kind, code, labels }: Failed): boolean {
  return kind === 'network' || kind === 'selection' || labels.includes(retryableWriteError) || code === maxTimeMsExpired
}

interface Ends {
  startTransaction(): void
  commit(): Promise<Outcome>
  abort(): Promise<Outcome>
  isActive(): boolean
}

/**
 * Runs `body` in transactions until one commits, or fails with an error that is not transient, or
 * two minutes have passed.
 * @param body null: commit; else the failure of a statement
 */
export async function withTransaction(
  context: ActorContext,
  session: Ends,
  body: () => Promise<Failed | null>,
): Promise<TransactionOutcome> {
  const untilMs = context.now() + retryingMs
  const aborts: Record<string, number> = {}
  for (let runs = 1; ; runs++) {
    session.startTransaction()
    let failure = await body()
    if (failure !== null && session.isActive()) await session.abort()
    if (failure === null) failure = await committed(context, session, untilMs)
    if (failure === null) return { committed: true, runs, aborts, failure }
    const code = String(failure.code ?? 0)
    aborts[code] = (aborts[code] ?? 0) + 1
    const backoffMs = context.random.fraction() * Math.min(backoffMaxMs, backoffFirstMs * 1.5 ** (runs - 1))
    if (!failure.labels.includes(transientTransactionError) || context.now() + backoffMs >= untilMs)
      return { committed: false, runs, aborts, failure }
    await context.sleep(backoffMs)
  }
}

/** @returns null: it is committed */
async function committed(context: ActorContext, session: Ends, untilMs: number): Promise<Failed | null> {
  for (;;) {
    const outcome = await session.commit()
    if (outcome.ok) {
      const concern = outcome.reply['writeConcernError'] as { readonly code: number } | undefined
      if (concern === undefined || unsatisfiableConcerns.has(concern.code) || context.now() >= untilMs) return null
    } else if (
      !outcome.labels.includes(unknownCommitResult) ||
      outcome.code === maxTimeMsExpired ||
      context.now() >= untilMs
    )
      return outcome
  }
}
