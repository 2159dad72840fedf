/** Commands of a coordinator to the shards that take part in a transaction. */
import {
  compareTimestamps,
  RequestFailedError,
  timestampPair,
  unversionedNow,
  type TimestampPair,
} from '@shardlab/actor'
import { CommandError, DocumentWriter, ErrorCodes, findField } from '@shardlab/bson'
import { replyError } from '@shardlab/member'
import type { NodeHost } from '@shardlab/node'
import type { Decision, TransactionId } from './coordinator-record.js'

const requestTimeoutMs = 15_000
const firstPauseMs = 10
const pauseMsMax = 1000

/** With these a participant votes to abort; after other errors it is asked again. */
const abortVotes: ReadonlySet<number> = new Set([
  ErrorCodes.NoSuchTransaction,
  ErrorCodes.TransactionTooOld,
  ErrorCodes.OperationNotSupportedInTransaction,
  ErrorCodes.ReadConcernMajorityNotEnabled,
  ErrorCodes.TransactionCommitted,
])

/** It has ended there already. */
const acknowledgements: ReadonlySet<number> = new Set([ErrorCodes.NoSuchTransaction, ErrorCodes.TransactionTooOld])

export class Participants {
  readonly #node: NodeHost
  readonly #id: TransactionId
  readonly #shards: readonly string[]

  constructor(node: NodeHost, id: TransactionId, shards: readonly string[]) {
    this.#node = node
    this.#id = id
    this.#shards = shards
  }

  /** @param deadlineMs the votes that are missing then count as votes to abort */
  async votes(deadlineMs: number): Promise<Decision> {
    const votes = await this.#node.context.all(this.#shards.map((shard) => this.#vote(shard, deadlineMs)))
    let commitTime: TimestampPair = [0, 0]
    for (const vote of votes) {
      if (vote instanceof CommandError) return { outcome: 'abort', cause: vote }
      if (compareTimestamps(vote, commitTime) > 0) commitTime = vote
    }
    return { outcome: 'commit', commitTime }
  }

  async #vote(shard: string, deadlineMs: number): Promise<TimestampPair | CommandError> {
    const body = this.#body(ofMajority(new DocumentWriter(256).int32('prepareTransaction', 1)))
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, pauseMsMax)) {
      const vote = voteIn(await this.#ask(shard, body))
      if (vote !== null) return vote
      if (this.#node.context.now() >= deadlineMs)
        return new CommandError('NoSuchTransaction', `Transaction exceeded deadline while waiting for ${shard}`)
      await this.#node.context.sleep(pauseMs)
    }
  }

  /** Resolves when all participants have acknowledged the decision. */
  async send(decision: Decision): Promise<void> {
    const writer = new DocumentWriter(256)
    if (decision.outcome === 'commit') {
      const [seconds, increment] = decision.commitTime
      writer.int32('commitTransaction', 1).timestamp('commitTimestamp', seconds, increment)
    } else writer.int32('abortTransaction', 1)
    const body = this.#body(ofMajority(writer))
    await this.#node.context.all(this.#shards.map((shard) => this.#sendUntilAcknowledged(shard, body)))
  }

  async #sendUntilAcknowledged(shard: string, body: Uint8Array): Promise<void> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, pauseMsMax)) {
      const reply = await this.#ask(shard, body)
      if (reply !== null && isAcknowledged(reply)) return
      await this.#node.context.sleep(pauseMs)
    }
  }

  #body(writer: DocumentWriter): Uint8Array {
    return writer
      .document('lsid', this.#id.lsid)
      .int64('txnNumber', this.#id.txnNumber)
      .bool('autocommit', false)
      .string('$db', 'admin')
      .finish()
  }

  /** Null: no answer. */
  async #ask(shard: string, body: Uint8Array): Promise<Uint8Array | null> {
    const { context, clock } = this.#node
    const command = unversionedNow('admin', body, clock.time)
    if (shard === context.address || shard === this.#node.role.memberName)
      return (await this.#node.nodeCommand(command)).body
    try {
      const reply = await context.request(shard, 'node.command', command, { timeoutMs: requestTimeoutMs })
      clock.advance(reply.clusterTime)
      return reply.body
    } catch (error) {
      if (error instanceof RequestFailedError) return null
      throw error
    }
  }
}

/** A member that only holds itself for the primary may not know the transaction. */
function ofMajority(writer: DocumentWriter): DocumentWriter {
  return writer.startDocument('writeConcern').string('w', 'majority').end()
}

const isOfMajority = (reply: Uint8Array): boolean => findField(reply, 'writeConcernError') === undefined

/** Null: no vote. */
function voteIn(reply: Uint8Array | null): TimestampPair | CommandError | null {
  if (reply === null || !isOfMajority(reply)) return null
  const error = replyError(reply)
  if (error === null) return timestampPair(findField(reply, 'prepareTimestamp')!)
  return abortVotes.has(error.code) ? error : null
}

function isAcknowledged(reply: Uint8Array): boolean {
  if (!isOfMajority(reply)) return false
  const error = replyError(reply)
  return error === null || acknowledgements.has(error.code)
}
