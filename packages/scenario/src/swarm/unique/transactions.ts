/** Transactions of `@shardlab/unique` over a simulated client, as a driver's `withTransaction`. */
import { Binary, Long, type Document } from '@shardlab/bson'
import { PortError, type Transactions, type TransactionScope } from '@shardlab/unique/core'
import { transientTransactionError } from '../../client/transactions.js'
import { errorsOf, isPassing, isUnconfirmed, nameOf, WrongAnswerError } from '../client/errors.js'
import type { CommandSender } from './port.js'

/** The transaction has ended, and may run again. */
class TransientError extends Error {}

const runsMax = 400
const commitsMax = 40
const pauseMs = 2
const pauseMaxMs = 30

export interface TransactionParts {
  readonly client: CommandSender
  /** Of the session. */
  readonly sessionId: Uint8Array
  readonly sleep: (durationMs: number) => Promise<void>
  /** The ports of a sender that adds the fields of a transaction. */
  readonly scopeOf: (client: CommandSender) => TransactionScope
}

export function uniqueTransactions({ client, sessionId, sleep, scopeOf }: TransactionParts): Transactions {
  const lsid = { id: new Binary(sessionId, 4) }
  let number = 0
  const once = async <T>(body: (scope: TransactionScope) => Promise<T>): Promise<T> => {
    const fields = { lsid, txnNumber: Long.fromNumber(++number), autocommit: false }
    let recoveryToken: Document | undefined
    let isNew = true
    const statements: CommandSender = {
      async once(command) {
        const start = isNew ? { startTransaction: true, readConcern: { level: 'snapshot' } } : {}
        isNew = false
        const reply = await client.once({ ...command, ...fields, ...start })
        if (reply === null || isTransient(reply)) throw new TransientError()
        recoveryToken = (reply['recoveryToken'] as Document | undefined) ?? recoveryToken
        return reply
      },
    }
    const end = (name: string): Promise<Document | null> => {
      const token = recoveryToken === undefined ? {} : { recoveryToken }
      return client.once({ [name]: 1, ...fields, ...token, writeConcern: { w: 'majority' }, $db: 'admin' })
    }
    let result: T
    try {
      result = await body(scopeOf(statements))
    } catch (error) {
      await end('abortTransaction')
      throw error
    }
    for (let commits = 1; commits <= commitsMax; commits++) {
      const reply = await end('commitTransaction')
      if (reply !== null) {
        const [error] = errorsOf(reply)
        if (error === undefined && reply['writeConcernError'] === undefined) return result
        if (isTransient(reply)) throw new TransientError()
        if (error !== undefined && !isPassing(error) && !isUnconfirmed(reply))
          throw new WrongAnswerError({ commitTransaction: 1 }, `${nameOf(reply)}: ${error['code']} ${error['errmsg']}`)
      }
      await sleep(Math.min(pauseMaxMs, pauseMs * commits))
    }
    throw new PortError('unknown', 'the commit has no answer')
  }
  return {
    async run(body) {
      for (let runs = 1; ; runs++) {
        try {
          return { refused: null, result: await once(body) }
        } catch (error) {
          if (!(error instanceof TransientError)) throw error
          if (runs === runsMax) throw new PortError('refused', 'the transaction was aborted again and again')
        }
        await sleep(Math.min(pauseMaxMs, pauseMs * runs))
      }
    },
    within: () => Promise.reject(new Error('no caller has a transaction here')),
  }
}

const isTransient = (reply: Document): boolean =>
  ((reply['errorLabels'] as readonly string[] | undefined) ?? []).includes(transientTransactionError)
