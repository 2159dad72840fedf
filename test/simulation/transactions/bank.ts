/**
 * A bank on several shards: clients transfer amounts in transactions, from a seed, while chunks
 * move and members crash. Each transfer also inserts a document into a ledger.
 */
import { createRandom, RequestFailedError, type Random } from '@shardlab/actor'
import { Binary, decode, encode, Long, type Document, type Timestamp } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import { CrashDriver } from '../crash-driver.js'

export interface BankOutcome {
  readonly traceHash: string
  readonly violations: readonly string[]
  readonly crashes: number
  readonly acknowledged: number
  readonly unknown: number
  readonly aborted: number
}

const accounts = 12
const clients = 4
const transfersOfClient = 15
const opening = 100

interface Totals {
  readonly acknowledged: string[]
  readonly unknown: string[]
  readonly violations: string[]
  aborted: number
}

export async function playBank(seed: number): Promise<BankOutcome> {
  clusterTime = undefined
  const cluster = await createSimulatedCluster({
    seed,
    shards: 3,
    mongos: 2,
    emulate: '8.0',
    findReplicaSetHostTimeoutMs: 1000,
  })
  const random = createRandom(seed).fork('bank')
  for (const command of [
    { shardCollection: 'bank.accounts', key: { _id: 1 } },
    { shardCollection: 'bank.ledger', key: { _id: 'hashed' } },
    { split: 'bank.accounts', middle: { _id: 4 } },
    { split: 'bank.accounts', middle: { _id: 8 } },
    { moveChunk: 'bank.accounts', find: { _id: 4 }, to: 'shard02' },
    { moveChunk: 'bank.accounts', find: { _id: 8 }, to: 'shard03' },
  ])
    await send(cluster, random, { ...command, $db: 'admin' })
  const documents = Array.from({ length: accounts }, (_, _id) => ({ _id, balance: opening }))
  await send(cluster, random, { insert: 'accounts', documents, $db: 'bank' })
  const totals: Totals = { acknowledged: [], unknown: [], violations: [], aborted: 0 }
  const crashDriver = new CrashDriver(cluster, random, clients)
  const work = Array.from({ length: clients }, (_, i) =>
    new Client(cluster, random.fork(`client ${i}`), `c${i}`, totals, crashDriver)
      .work()
      .finally(() => crashDriver.clientDone()),
  )
  await Promise.all([...work, moveChunks(cluster, random.fork('chunks'), crashDriver), crashDriver.run()])
  // Transactions of lost clients have ended by then, and commits are complete.
  await cluster.advance(70_000)
  const violations = [...totals.violations, ...(await violationsOf(cluster, random, totals))]
  await cluster.stop()
  return {
    traceHash: cluster.traceHash(),
    violations,
    crashes: crashDriver.crashes,
    acknowledged: totals.acknowledged.length,
    unknown: totals.unknown.length,
    aborted: totals.aborted,
  }
}

/** As drivers do, every command has the newest cluster time of the replies before it. */
let clusterTime: Document | undefined

/** The reply of some router; null: the router went away. */
async function send(
  cluster: SimulatedCluster,
  random: Random,
  command: Document,
  to = cluster.mongos[random.below(cluster.mongos.length)]!,
): Promise<Document | null> {
  try {
    const timed = clusterTime === undefined ? command : { ...command, $clusterTime: clusterTime }
    const reply = decode(await cluster.command(encode(timed), { to }), { promoteLongs: true })
    const replied = reply['$clusterTime'] as { clusterTime: Timestamp } | undefined
    const isNewer =
      clusterTime === undefined || replied?.clusterTime.greaterThan(clusterTime['clusterTime'] as Timestamp) === true
    if (replied !== undefined && isNewer) clusterTime = replied
    return reply
  } catch (error) {
    if (error instanceof RequestFailedError) return null
    throw error
  }
}

async function moveChunks(cluster: SimulatedCluster, random: Random, crashDriver: CrashDriver): Promise<void> {
  while (crashDriver.clientsAtWork) {
    await cluster.advance(random.fraction() * 100)
    const to = cluster.shards[random.below(cluster.shards.length)]!
    await send(cluster, random, {
      moveChunk: 'bank.accounts',
      find: { _id: random.below(accounts) },
      to,
      $db: 'admin',
    })
  }
}

class Client {
  readonly #cluster: SimulatedCluster
  readonly #random: Random
  readonly #name: string
  readonly #totals: Totals
  readonly #crashDriver: CrashDriver
  readonly #lsid: Document
  #txnNumber = 0

  constructor(cluster: SimulatedCluster, random: Random, name: string, totals: Totals, crashDriver: CrashDriver) {
    this.#cluster = cluster
    this.#random = random
    this.#name = name
    this.#totals = totals
    this.#crashDriver = crashDriver
    this.#lsid = { id: new Binary(random.bytes(16), 4) }
  }

  async work(): Promise<void> {
    for (let i = 0; i < transfersOfClient; i++) {
      if (this.#random.chance(1, 4)) await this.#checkSum()
      const id = `${this.#name}-${i}`
      const from = this.#random.below(accounts)
      const to = (from + 1 + this.#random.below(accounts - 1)) % accounts
      const outcome = await this.#transfer(id, from, to, 1 + this.#random.below(10))
      if (outcome === 'committed') this.#totals.acknowledged.push(id)
      else if (outcome === 'unknown') this.#totals.unknown.push(id)
      else this.#totals.aborted++
      await this.#cluster.advance(this.#random.fraction() * 5)
    }
  }

  /** All accounts in one transaction: the amounts of a half transfer never show. */
  async #checkSum(): Promise<void> {
    const router = this.#router()
    this.#txnNumber++
    const level = this.#random.chance(1, 2) ? 'snapshot' : 'majority'
    const readConcern = level === 'snapshot' ? { readConcern: { level } } : {}
    if (level !== 'snapshot') return
    const reply = await this.#statement(router, { find: 'accounts' }, { startTransaction: true, ...readConcern })
    if (reply?.['ok'] === 1) {
      const found = reply['cursor'].firstBatch as { balance: number }[]
      const sum = found.reduce((total, { balance }) => total + balance, 0)
      if (found.length !== accounts || sum !== accounts * opening)
        this.#totals.violations.push(`${this.#name} read ${found.length} accounts with ${sum} in a snapshot`)
    }
    await this.#end(router, 'abortTransaction')
  }

  async #transfer(id: string, from: number, to: number, amount: number): Promise<'committed' | 'aborted' | 'unknown'> {
    const router = this.#router()
    this.#txnNumber++
    const move = (_id: number, by: number) => ({
      update: 'accounts',
      updates: [{ q: { _id }, u: { $inc: { balance: by } } }],
    })
    let token: Document | undefined
    const statements = [
      move(from, -amount),
      move(to, amount),
      { insert: 'ledger', documents: [{ _id: id, from, to, amount }] },
    ]
    for (const [i, statement] of statements.entries()) {
      const reply = await this.#statement(router, statement, i === 0 ? { startTransaction: true } : {})
      token = (reply?.['recoveryToken'] as Document | undefined) ?? token
      if (reply?.['ok'] === 1 && reply['n'] === 1) continue
      if (reply?.['ok'] === 1)
        this.#totals.violations.push(`${Object.keys(statement)[0]} of ${id} had no effect: ${JSON.stringify(reply)}`)
      await this.#end(router, 'abortTransaction')
      return 'aborted'
    }
    if (this.#random.chance(1, 20)) {
      await this.#end(router, 'abortTransaction')
      return 'aborted'
    }
    return this.#commit(router, token)
  }

  /** As drivers do: again on any router while the outcome is unknown. */
  async #commit(first: string, token: Document | undefined): Promise<'committed' | 'aborted' | 'unknown'> {
    let router = first
    for (let attempt = 0; attempt < 20; attempt++) {
      const reply = await this.#end(router, 'commitTransaction', { recoveryToken: token ?? {} })
      if (reply?.['ok'] === 1 && reply['writeConcernError'] === undefined) return 'committed'
      const labels = (reply?.['errorLabels'] ?? []) as string[]
      if (labels.includes('TransientTransactionError')) return 'aborted'
      await this.#cluster.advance(50)
      router = this.#router()
    }
    return 'unknown'
  }

  #router(): string {
    return this.#cluster.mongos[this.#random.below(this.#cluster.mongos.length)]!
  }

  #statement(router: string, command: Document, more: Document): Promise<Document | null> {
    this.#crashDriver.sent()
    return send(this.#cluster, this.#random, { ...command, ...this.#fields, ...more, $db: 'bank' }, router)
  }

  #end(router: string, name: string, more: Document = {}): Promise<Document | null> {
    this.#crashDriver.sent()
    const concern = { writeConcern: { w: 'majority' } }
    return send(this.#cluster, this.#random, { [name]: 1, ...this.#fields, ...concern, ...more, $db: 'admin' }, router)
  }

  get #fields(): Document {
    return { lsid: this.#lsid, txnNumber: Long.fromNumber(this.#txnNumber), autocommit: false }
  }
}

async function violationsOf(
  cluster: SimulatedCluster,
  random: Random,
  { acknowledged, unknown }: Totals,
): Promise<string[]> {
  const all = async (collection: string) => {
    const reply = await send(cluster, random, { find: collection, batchSize: 10_000, $db: 'bank' })
    return reply!['cursor'].firstBatch as Document[]
  }
  const [stored, ledger] = [await all('accounts'), await all('ledger')]
  const violations: string[] = []
  const balances = new Map(Array.from({ length: accounts }, (_, i) => [i, opening]))
  for (const { from, to, amount } of ledger) {
    balances.set(from, balances.get(from)! - amount)
    balances.set(to, balances.get(to)! + amount)
  }
  if (stored.length !== accounts) violations.push(`${stored.length} accounts are there`)
  for (const { _id, balance } of stored)
    if (balance !== balances.get(_id))
      violations.push(`account ${_id} has ${balance}, but the ledger says ${balances.get(_id)}`)
  const ids = new Set(ledger.map(({ _id }) => _id as string))
  for (const id of acknowledged) if (!ids.has(id)) violations.push(`transfer ${id} was acknowledged and is lost`)
  for (const id of ids)
    if (!acknowledged.includes(id) && !unknown.includes(id))
      violations.push(`transfer ${id} was reported as aborted and is there`)
  return violations
}
