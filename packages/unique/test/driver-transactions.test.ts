import type { MongoClient } from 'mongodb'
import t from 'tap'
import type { TransactionScope } from '../src/core/world.js'
import { driverTransactions } from '../src/driver/transactions.js'

/** A client whose commits fail with this code and these labels. */
function failingClient(code: number, labels: readonly string[]): MongoClient {
  const session = {
    async withTransaction(body: () => Promise<void>) {
      await body()
      const hasErrorLabel = (label: string): boolean => labels.includes(label)
      throw Object.assign(new Error('the commit has failed'), { code, hasErrorLabel })
    },
    endSession: () => Promise.resolve(),
  }
  return { startSession: () => session } as unknown as MongoClient
}

t.test('an unknown transaction has an unknown outcome unless the server says that it may run again', async (t) => {
  const run = (labels: readonly string[]) => {
    const transactions = driverTransactions(failingClient(251, labels), () => ({}) as TransactionScope, {
      db: undefined as never,
      name: 'main',
    })
    return transactions.run(() => Promise.resolve(1))
  }
  await t.rejects(run([]), { name: 'PortError', kind: 'unknown' })
  await t.rejects(run(['TransientTransactionError']), { name: 'Error', code: 251 })
  await t.rejects(run(['UnknownTransactionCommitResult']), { name: 'PortError', kind: 'unknown' })
})
