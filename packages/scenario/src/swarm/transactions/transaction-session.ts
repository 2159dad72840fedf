/**
 * A causally consistent session with transactions, as drivers implement them: the commit is
 * repeated, with the recovery token and on any router, while its outcome is unknown.
 */
import { Long, type Document, type Timestamp } from '@shardlab/bson'
import { labelsOf } from '../../client/reply.js'
import { errorsOf, isPassing, isUnconfirmed, nameOf, WrongAnswerError } from '../client/errors.js'
import type { Reply } from '../client/port.js'
import type { SwarmClient } from '../client/swarm-client.js'

export type TransactionOutcome = 'committed' | 'aborted' | 'unknown'
export type TransactionReadConcern = 'local' | 'majority' | 'snapshot'

const majority = { w: 'majority' } as const
/** A transaction is aborted after `transactionLifetimeLimitSeconds`. */
const exceededLifetime = 290
/** Of a commit, each after up to 100 ms. */
const commitsMax = 300

export class TransactionSession {
  readonly #client: SwarmClient
  readonly #lsid: Document
  #txnNumber = 0
  #operationTime: Timestamp | null = null
  #clusterTime: Document | null = null
  #router = ''
  #first: Document | null = null
  #recoveryToken: Document | null = null

  constructor(client: SwarmClient, lsid: Document) {
    this.#client = client
    this.#lsid = lsid
  }

  /** For reads outside of transactions. */
  readConcern(level: TransactionReadConcern): Document {
    return { level, ...(this.#operationTime === null ? {} : { afterClusterTime: this.#operationTime }) }
  }

  /** The newest that a member has sent: none can reject a read for its time. */
  get gossip(): Document {
    return this.#clusterTime === null ? {} : { $clusterTime: this.#clusterTime }
  }

  learn(reply: Reply): void {
    this.#clusterTime = (reply?.['$clusterTime'] as Document | undefined) ?? this.#clusterTime
    const time = reply?.['operationTime'] as Timestamp | undefined
    if (time !== undefined && (this.#operationTime === null || time.greaterThan(this.#operationTime)))
      this.#operationTime = time
  }

  start(level: TransactionReadConcern): void {
    this.#txnNumber++
    this.#router = this.#client.anyRouter()
    this.#first = { startTransaction: true, readConcern: this.readConcern(level) }
    this.#recoveryToken = null
  }

  /**
   * @returns null: the transaction must be aborted
   * @throws WrongAnswerError for an error that is not transient
   */
  async run(command: Document): Promise<Reply> {
    const first = this.#first ?? {}
    this.#first = null
    const reply = await this.#send({ ...command, ...first })
    if (reply === null) return null
    // Not of commits: a router that does not know the transaction replies with an empty one.
    this.#recoveryToken = (reply['recoveryToken'] as Document | undefined) ?? this.#recoveryToken
    const errors = errorsOf(reply)
    const isTransient = labelsOf(reply).includes('TransientTransactionError')
    for (const error of errors)
      if (!isTransient && !isPassing(error) && error['code'] !== exceededLifetime)
        throw new WrongAnswerError(command, `${nameOf(command)} failed with ${error['code']} ${error['errmsg']}`)
    return errors.length === 0 ? reply : null
  }

  /** Some of the aborts are never sent, as by clients that end. */
  async abort(): Promise<void> {
    await this.#send({ abortTransaction: 1, writeConcern: majority, $db: 'admin' })
  }

  /** @throws WrongAnswerError for an error that says nothing about the outcome */
  async commit(): Promise<TransactionOutcome> {
    for (let attempt = 1; attempt <= commitsMax; attempt++) {
      const token = this.#recoveryToken === null ? {} : { recoveryToken: this.#recoveryToken }
      const command = { commitTransaction: 1, writeConcern: majority, ...token, $db: 'admin' }
      const reply = await this.#send(command)
      if (reply !== null) {
        const [error] = errorsOf(reply)
        if (error === undefined) return 'committed'
        const labels = labelsOf(reply)
        if (labels.includes('TransientTransactionError')) return 'aborted'
        const isUnknown = labels.includes('UnknownTransactionCommitResult') || isUnconfirmed(reply)
        if (!isUnknown && !isPassing(error))
          throw new WrongAnswerError(command, `${nameOf(command)} failed with ${error['code']} ${error['errmsg']}`)
      }
      await this.#client.pause(100)
      this.#router = this.#client.anyRouter()
    }
    return 'unknown'
  }

  async #send(command: Document): Promise<Reply> {
    const fields = { lsid: this.#lsid, txnNumber: Long.fromNumber(this.#txnNumber), autocommit: false }
    const reply = await this.#client.once({ ...command, ...fields, ...this.gossip }, this.#router)
    this.learn(reply)
    return reply
  }
}
