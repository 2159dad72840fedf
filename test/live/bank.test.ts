/**
 * A bank of 1,000 accounts on four sets of three, on threads: 16 clients of the official driver
 * transfer amounts for a minute while chunks move, primaries step down and routers restart.
 */
import { MongoClient, MongoError, MongoNetworkError, type ClientSession, type Collection } from 'mongodb'
import { ShardedCluster } from 'shardlab'
import t from 'tap'

const isLong = process.env['SHARDLAB_LONG'] === '1'
const durationMs = Number(process.env['SHARDLAB_BANK_MS'] ?? 60_000)
const accountCount = 1000
const accountsOfChunk = 50
const opening = 100
const clientCount = 16

interface Account {
  readonly _id: number
  readonly balance: number
}

interface Transfer {
  readonly _id: string
  readonly from: number
  readonly to: number
  readonly amount: number
}

const below = (count: number): number => Math.floor(Math.random() * count)

class Bank {
  readonly violations: string[] = []
  readonly acknowledged: string[] = []
  readonly unknown = new Set<string>()
  sums = 0
  moved = 0
  failures = 0
  isOpen = true
  readonly #cluster: ShardedCluster
  readonly #client: MongoClient
  readonly #accounts: Collection<Account>
  readonly #ledger: Collection<Transfer>

  constructor(cluster: ShardedCluster, client: MongoClient) {
    this.#cluster = cluster
    this.#client = client
    const db = client.db('bank')
    this.#accounts = db.collection<Account>('accounts')
    this.#ledger = db.collection<Transfer>('ledger')
  }

  async open(): Promise<void> {
    const admin = this.#client.db('admin')
    await admin.command({ shardCollection: 'bank.accounts', key: { _id: 1 } })
    await admin.command({ shardCollection: 'bank.ledger', key: { _id: 'hashed' } })
    for (let _id = accountsOfChunk; _id < accountCount; _id += accountsOfChunk)
      await admin.command({ split: 'bank.accounts', middle: { _id } })
    const { shards } = this.#cluster
    for (let _id = 0, i = 0; _id < accountCount; _id += accountsOfChunk, i++)
      await admin.command({ moveChunk: 'bank.accounts', find: { _id }, to: shards[i % shards.length]!.id })
    const documents = Array.from({ length: accountCount }, (_, _id) => ({ _id, balance: opening }))
    await this.#accounts.insertMany(documents, { writeConcern: { w: 'majority' } })
  }

  async transferOften(client: number): Promise<void> {
    for (let i = 0; this.isOpen; i++) {
      const from = below(accountCount)
      const to = (from + 1 + below(accountCount - 1)) % accountCount
      await this.#transfer({ _id: `${client}-${i}`, from, to, amount: 1 + below(10) })
      if (i % 20 === client) await this.#readAll()
    }
  }

  async #transfer({ _id, from, to, amount }: Transfer): Promise<void> {
    const work = async (session: ClientSession): Promise<void> => {
      for (const [account, by] of [
        [from, -amount],
        [to, amount],
      ] as const) {
        const { matchedCount } = await this.#accounts.updateOne(
          { _id: account },
          { $inc: { balance: by } },
          { session },
        )
        if (matchedCount !== 1) this.violations.push(`account ${account} was not found`)
      }
      await this.#ledger.insertOne({ _id, from, to, amount }, { session })
    }
    try {
      const options = { readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } } as const
      await this.#client.withSession((session) => session.withTransaction(() => work(session), options))
      this.acknowledged.push(_id)
    } catch (error) {
      if (!(error instanceof MongoError)) throw error
      if (error.code === 11_000) this.violations.push(`transfer ${_id} was repeated after it had committed`)
      // A network error of a commit has no label if the driver had noticed the restart before.
      if (error.hasErrorLabel('UnknownTransactionCommitResult') || error instanceof MongoNetworkError)
        this.unknown.add(_id)
      else if (!error.hasErrorLabel('TransientTransactionError'))
        this.violations.push(`transfer ${_id} failed: ${error.message}`)
    }
  }

  async #readAll(): Promise<void> {
    const options = { readConcern: { level: 'snapshot' } } as const
    const read = (session: ClientSession) => this.#accounts.find({}, { session, batchSize: 2 * accountCount }).toArray()
    try {
      const found = await this.#client.withSession((session) => session.withTransaction(() => read(session), options))
      this.sums++
      this.#checkSum('a snapshot', found)
    } catch (error) {
      // The router of the cursor was restarted.
      if (!(error instanceof MongoError)) throw error
    }
  }

  #checkSum(reader: string, found: readonly Account[]): void {
    const sum = found.reduce((total, { balance }) => total + balance, 0)
    if (found.length !== accountCount || sum !== accountCount * opening)
      this.violations.push(`${reader} has ${found.length} accounts with ${sum}`)
  }

  async moveChunks(): Promise<void> {
    const { shards } = this.#cluster
    while (this.isOpen) {
      const command = { moveChunk: 'bank.accounts', find: { _id: below(accountCount) }, to: shards[below(4)]!.id }
      await this.#client
        .db('admin')
        .command(command)
        .then(
          () => void this.moved++,
          () => {},
        )
    }
  }

  /** @param text of a fault */
  async fail(text: () => string, everyMs: number): Promise<void> {
    while (this.isOpen) {
      await this.#cluster.faults.apply(text())
      this.failures++
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  }

  async checkEnd(): Promise<void> {
    const stored = await this.#accounts.find({}, { readConcern: { level: 'majority' } }).toArray()
    const ledger = await this.#ledger.find({}, { readConcern: { level: 'majority' } }).toArray()
    this.#checkSum('the end', stored)
    const balances = new Map(stored.map(({ _id }) => [_id, opening]))
    for (const { from, to, amount } of ledger) {
      balances.set(from, balances.get(from)! - amount)
      balances.set(to, balances.get(to)! + amount)
    }
    for (const { _id, balance } of stored)
      if (balance !== balances.get(_id))
        this.violations.push(`account ${_id} has ${balance}, but the ledger says ${balances.get(_id)}`)
    const ids = new Set(ledger.map(({ _id }) => _id))
    const sent = new Set([...this.acknowledged, ...this.unknown])
    for (const id of this.acknowledged) if (!ids.has(id)) this.violations.push(`transfer ${id} is lost`)
    for (const id of ids) if (!sent.has(id)) this.violations.push(`transfer ${id} was reported as aborted and is there`)
  }
}

t.test('no transfer is lost, halved or doubled', { skip: !isLong && 'long', timeout: 300_000 }, async (t) => {
  const cluster = await ShardedCluster.start({
    shards: 4,
    members: 3,
    mongos: 2,
    runtime: 'threads',
    serverTimings: false,
  })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  const bank = new Bank(cluster, client)
  await bank.open()
  const sets = ['config', ...cluster.shards.map(({ id }) => id)]
  const work = Promise.all([
    ...Array.from({ length: clientCount }, (_, i) => bank.transferOften(i)),
    bank.moveChunks(),
    bank.fail(() => `step down ${sets[below(sets.length)]!} for 2s`, 3000),
    bank.fail(() => `restart mongos0${1 + below(2)}`, 5000),
  ])
  await new Promise((resolve) => setTimeout(resolve, durationMs))
  bank.isOpen = false
  await work
  await cluster.faults.heal()
  await bank.checkEnd()
  t.same(bank.violations, [])
  const { acknowledged, unknown, failures, moved, sums } = bank
  t.comment(
    `${acknowledged.length} acknowledged, ${unknown.size} unknown, ${sums} sums, ${moved} moves, ${failures} failures`,
  )
  t.ok(acknowledged.length > 100 && sums > 0 && moved > 0 && failures > 0)
})
