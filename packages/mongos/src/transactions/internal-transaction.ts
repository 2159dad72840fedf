/**
 * A transaction that the router runs for one command of a client. Server: transaction_api.cpp;
 * document_shard_key_update_util.cpp, startTransactionForShardKeyUpdate.
 */
import { CommandError, ErrorCodes, findField, isRetriableErrorCode, isTransientTransactionError } from '@shardlab/bson'
import { isTransient, type SessionId } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { isStaleCode } from '../remote/command-reply.js'
import { abortImplicitly, commit } from './end-transaction.js'
import type { RouterTransaction } from './router-transaction.js'

export interface InternalWork<T> {
  /** Gets the command of the client as it runs in the transaction. */
  readonly run: (inside: MongosInvocation) => Promise<T>
  /** The code of a failure in the result, which aborts the transaction. Null: it commits. */
  readonly codeOf: (result: T) => number | null
}

export interface InternalOutcome<T> {
  readonly result: T
  /** Of the commit. Null: the write concern is satisfied. */
  readonly concernError: Uint8Array | null
}

/**
 * Runs a retryable write as the transaction with its own number. Shards that take part refuse to
 * repeat the write later: 217 IncompleteTransactionHistory.
 * @param run rejects if a statement has failed
 * @throws CommandError of the work and of the commit; 117 ConflictingOperationInProgress
 */
export function convertToTransaction<T>(
  invocation: MongosInvocation,
  run: InternalWork<T>['run'],
): Promise<InternalOutcome<T>> {
  const { session, txnNumber } = invocation
  const converted = { run: (inside: MongosInvocation) => run({ ...inside, txnNumber: null }), codeOf: () => null }
  return attempt(invocation, session!, txnNumber!, converted, commitOnce)
}

/** The commit has failed, and the transaction may have committed. */
class FinalError extends Error {
  readonly failure: CommandError

  constructor(failure: CommandError) {
    super(failure.message, { cause: failure })
    this.name = 'FinalError'
    this.failure = failure
  }
}

const firstPauseMs = 1
const pauseMsMax = 1000

/**
 * Runs the work in a transaction of an internal session, again after transient errors. Shards
 * record its statements in the session of the client, whose repetition finds them there.
 * @throws CommandError of the work and of the commit
 */
export async function runInternally<T>(
  invocation: MongosInvocation,
  work: InternalWork<T>,
): Promise<InternalOutcome<T>> {
  const { host, operation } = invocation
  const { transactionAttemptsMax } = host.limits
  const internal = host.transactions.sessions.acquire(invocation.session, invocation.txnNumber)
  try {
    for (let attempts = 1, pauseMs = firstPauseMs; ; attempts++, pauseMs = Math.min(2 * pauseMs, pauseMsMax)) {
      try {
        return await attempt(invocation, internal.session, internal.txnNumber++, work, commitPersistently)
      } catch (error) {
        if (error instanceof FinalError) throw error.failure
        if (!(error instanceof CommandError) || !mayRunAgain(error)) throw error
        if (attempts >= transactionAttemptsMax) {
          host.limitReached('transactionAttemptsMax', attempts)
          throw error
        }
      }
      await host.remote.pause(pauseMs, operation)
    }
  } finally {
    host.transactions.drop(internal.session.key)
    host.transactions.sessions.release(internal)
  }
}

/** The caller routes the command again after stale routing. */
function mayRunAgain({ code }: CommandError): boolean {
  return !isStaleCode(code) && isTransientTransactionError(code, false)
}

async function attempt<T>(
  invocation: MongosInvocation,
  session: SessionId,
  txnNumber: bigint,
  { run, codeOf }: InternalWork<T>,
  commitIt: typeof commitOnce,
): Promise<InternalOutcome<T>> {
  const { host, operation } = invocation
  const transaction = host.transactions.start(session, txnNumber)
  transaction.isInternal = true
  transaction.beginStatement(null, null)
  const runAndEnd = async (): Promise<InternalOutcome<T>> => {
    try {
      const result = await run(invocation)
      const code = codeOf(result)
      if (code === null) return { result, concernError: await commitIt(invocation, transaction) }
      await abortImplicitly(invocation, transaction, code)
      return { result, concernError: null }
    } catch (error) {
      const code = error instanceof CommandError ? error.code : ErrorCodes.InternalError
      await abortImplicitly(invocation, transaction, code)
      throw error
    }
  }
  try {
    return await transaction.during(operation, host.context, runAndEnd)
  } finally {
    // The client's command is not a statement of it.
    operation.transaction = null
  }
}

/** @returns the error of the write concern */
async function commitOnce(invocation: MongosInvocation, transaction: RouterTransaction): Promise<Uint8Array | null> {
  return concernErrorOf((await commit(invocation, transaction)).finish())
}

/**
 * @returns the error of the write concern
 * @throws FinalError
 */
async function commitPersistently(
  invocation: MongosInvocation,
  transaction: RouterTransaction,
): Promise<Uint8Array | null> {
  const { host, operation } = invocation
  for (let retries = 0; ; retries++) {
    let failure: CommandError | null = null
    let concernError: Uint8Array | null
    try {
      concernError = await commitOnce(invocation, transaction)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      // It has aborted.
      if (isTransient(error, true)) throw error
      failure = error
      concernError = concernErrorOf(error.extra)
    }
    if (!mayCommitAgain(failure, concernError) || retries >= host.limits.remoteRetriesMax) {
      if (failure !== null) throw new FinalError(failure)
      return concernError
    }
    await host.remote.pause(pauseMsMax, operation)
  }
}

/** Server: handleError of a commit in transaction_api.cpp. */
function mayCommitAgain(failure: CommandError | null, concernError: Uint8Array | null): boolean {
  if (failure !== null && isRetriableErrorCode(failure.code)) return true
  return concernError !== null && isRetriableErrorCode(findField(concernError, 'code')!.asNumber())
}

function concernErrorOf(reply: Uint8Array | null): Uint8Array | null {
  return reply === null ? null : (findField(reply, 'writeConcernError')?.slice() ?? null)
}
