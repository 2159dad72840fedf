/**
 * A bank on several shards: clients transfer amounts in transactions, from a seed, while chunks
 * move and members fail. Each transfer also inserts a document into a ledger.
 */
import { createRandom, RequestFailedError, type Random } from '@shardlab/actor'
import { Binary, decode, encode, Long, type Document, type Timestamp } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster, type SimulatedClusterOptions } from '@shardlab/cluster'
import { CrashDriver } from '../crash-driver.js'
import { takePrimariesAway } from './bank-failovers.js'

export interface BankOutcome {
  readonly traceHash: string
  readonly violations: readonly string[]
  /** Of members: crashes, or restarts and elections. */
  readonly failures: number
  readonly acknowledged: number
  readonly unknown: number
  readonly aborted: number
  /** Snapshot reads of all accounts that had an answer. */
  readonly sums: number
}

interface BankShape {
  readonly accounts: number
  readonly accountsOfChunk: number
  readonly clients: number
  /** Virtual time between two transfers of a client, at most. */
  readonly pauseMs: number
  /** Whether a client begins another transfer. */
  readonly isWorking: (transfers: number, elapsedMs: number) => boolean
  readonly cluster: SimulatedClusterOptions
  /** Members fail while clients work. */
  readonly fail: (bank: Bank) => Promise<void>
}

const opening = 100

/** Few accounts on sets of one member that crash all the time. */
export const playBank = (seed: number): Promise<BankOutcome> =>
  new Bank(seed, {
    accounts: 12,
    accountsOfChunk: 4,
    clients: 4,
    pauseMs: 5,
    isWorking: (transfers) => transfers < 15,
    cluster: { shards: 3, mongos: 2 },
    fail: (bank) => bank.crashDriver.run(),
  }).play()

/** 1,000 accounts on four sets of three, whose primaries step down and whose routers restart. */
export const playLargeBank = (seed: number, durationMs: number): Promise<BankOutcome> =>
  new Bank(seed, {
    accounts: 1000,
    accountsOfChunk: 50,
    clients: 16,
    pauseMs: 1000,
    isWorking: (_, elapsedMs) => elapsedMs < durationMs,
    cluster: { shards: 4, mongos: 3, members: 3, serverTimings: false },
    fail: (bank) => takePrimariesAway(bank),
  }).play()

export class Bank {
  readonly shape: BankShape
  readonly random: Random
  readonly violations: string[] = []
  readonly acknowledged: string[] = []
  readonly unknown: string[] = []
  aborted = 0
  sums = 0
  failures = 0
  #cluster: SimulatedCluster | null = null
  #crashDriver: CrashDriver | null = null
  readonly #seed: number
  #beganMs = 0
  /** As drivers do, every command has the newest cluster time of the replies before it. */
  #clusterTime: Document | undefined

  constructor(seed: number, shape: BankShape) {
    this.#seed = seed
    this.shape = shape
    this.random = createRandom(seed).fork('bank')
  }

  get cluster(): SimulatedCluster {
    return this.#cluster!
  }

  get crashDriver(): CrashDriver {
    return this.#crashDriver!
  }

  get elapsedMs(): number {
    return this.cluster.now() - this.#beganMs
  }

  async play(): Promise<BankOutcome> {
    const { shape, random } = this
    const options = { seed: this.#seed, emulate: '8.0', findReplicaSetHostTimeoutMs: 1000, ...shape.cluster } as const
    const cluster = (this.#cluster = await createSimulatedCluster(options))
    const crashDriver = (this.#crashDriver = new CrashDriver(cluster, random, shape.clients))
    await this.#open()
    this.#beganMs = cluster.now()
    const work = Array.from({ length: shape.clients }, (_, i) =>
      new Client(this, random.fork(`client ${i}`), `c${i}`).work().finally(() => crashDriver.clientDone()),
    )
    await Promise.all([...work, this.#moveChunks(random.fork('chunks')), shape.fail(this)])
    await cluster.faults.heal()
    // Transactions of lost clients have ended by then, and commits are complete.
    await cluster.advance(70_000)
    await this.#checkEnd()
    await cluster.stop()
    const { violations, acknowledged, unknown, aborted, sums } = this
    return {
      traceHash: cluster.traceHash(),
      violations,
      failures: this.failures + crashDriver.crashes,
      acknowledged: acknowledged.length,
      unknown: unknown.length,
      aborted,
      sums,
    }
  }

  /** The reply of some router; null: the router went away. */
  async send(
    command: Document,
    to = this.cluster.mongos[this.random.below(this.cluster.mongos.length)]!,
  ): Promise<Document | null> {
    try {
      const timed = this.#clusterTime === undefined ? command : { ...command, $clusterTime: this.#clusterTime }
      const reply = decode(await this.cluster.command(encode(timed), { to }), { promoteLongs: true })
      const replied = reply['$clusterTime'] as { clusterTime: Timestamp } | undefined
      const known = this.#clusterTime?.['clusterTime'] as Timestamp | undefined
      if (replied !== undefined && (known === undefined || replied.clusterTime.greaterThan(known)))
        this.#clusterTime = replied
      return reply
    } catch (error) {
      if (error instanceof RequestFailedError) return null
      throw error
    }
  }

  async #open(): Promise<void> {
    const { accounts, accountsOfChunk } = this.shape
    const { shards } = this.cluster
    const commands: Document[] = [
      { shardCollection: 'bank.accounts', key: { _id: 1 } },
      { shardCollection: 'bank.ledger', key: { _id: 'hashed' } },
    ]
    for (let _id = accountsOfChunk; _id < accounts; _id += accountsOfChunk)
      commands.push({ split: 'bank.accounts', middle: { _id } })
    for (let _id = 0, i = 0; _id < accounts; _id += accountsOfChunk, i++)
      commands.push({ moveChunk: 'bank.accounts', find: { _id }, to: shards[i % shards.length]! })
    for (const command of commands) {
      const reply = await this.send({ ...command, $db: 'admin' })
      if (reply?.['ok'] !== 1) throw new Error(JSON.stringify(reply))
    }
    const documents = Array.from({ length: accounts }, (_, _id) => ({ _id, balance: opening }))
    const inserted = await this.send({ insert: 'accounts', documents, writeConcern: { w: 'majority' }, $db: 'bank' })
    if (inserted?.['n'] !== accounts) throw new Error(JSON.stringify(inserted))
  }

  async #moveChunks(random: Random): Promise<void> {
    while (this.crashDriver.clientsAtWork) {
      await this.cluster.advance(random.fraction() * 100)
      const to = this.cluster.shards[random.below(this.cluster.shards.length)]!
      const find = { _id: random.below(this.shape.accounts) }
      await this.send({ moveChunk: 'bank.accounts', find, to, $db: 'admin' })
    }
  }

  checkSum(reader: string, found: readonly Document[]): void {
    const { accounts } = this.shape
    const sum = found.reduce((total, { balance }) => total + (balance as number), 0)
    if (found.length !== accounts || sum !== accounts * opening)
      this.violations.push(`${reader} read ${found.length} accounts with ${sum}`)
  }

  async #checkEnd(): Promise<void> {
    const { violations } = this
    const all = async (collection: string): Promise<Document[]> => {
      const reply = await this.send({ find: collection, batchSize: 100_000, $db: 'bank' })
      if (reply?.['ok'] !== 1) throw new Error(JSON.stringify(reply))
      return reply['cursor'].firstBatch as Document[]
    }
    const [stored, ledger] = [await all('accounts'), await all('ledger')]
    this.checkSum('the end', stored)
    const balances = new Map(stored.map(({ _id }) => [_id as number, opening]))
    for (const { from, to, amount } of ledger) {
      balances.set(from, balances.get(from)! - amount)
      balances.set(to, balances.get(to)! + amount)
    }
    for (const { _id, balance } of stored)
      if (balance !== balances.get(_id))
        violations.push(`account ${_id} has ${balance}, but the ledger says ${balances.get(_id)}`)
    const ids = new Set(ledger.map(({ _id }) => _id as string))
    const sent = new Set([...this.acknowledged, ...this.unknown])
    if (ids.size < ledger.length) violations.push(`the ledger has ${ledger.length - ids.size} transfers twice`)
    for (const id of this.acknowledged) if (!ids.has(id)) violations.push(`transfer ${id} was acknowledged and is lost`)
    for (const id of ids) if (!sent.has(id)) violations.push(`transfer ${id} was reported as aborted and is there`)
  }
}

class Client {
  readonly #bank: Bank
  readonly #random: Random
  readonly #name: string
  readonly #lsid: Document
  #txnNumber = 0

  constructor(bank: Bank, random: Random, name: string) {
    this.#bank = bank
    this.#random = random
    this.#name = name
    this.#lsid = { id: new Binary(random.bytes(16), 4) }
  }

  async work(): Promise<void> {
    const bank = this.#bank
    const { accounts, isWorking, pauseMs } = bank.shape
    for (let i = 0; isWorking(i, bank.elapsedMs); i++) {
      if (this.#random.chance(1, 8)) await this.#readAll()
      const id = `${this.#name}-${i}`
      const from = this.#random.below(accounts)
      const to = (from + 1 + this.#random.below(accounts - 1)) % accounts
      const outcome = await this.#transfer(id, from, to, 1 + this.#random.below(10))
      if (outcome === 'committed') bank.acknowledged.push(id)
      else if (outcome === 'unknown') bank.unknown.push(id)
      else bank.aborted++
      await bank.cluster.advance(this.#random.fraction() * pauseMs)
    }
  }

  /** All accounts in one snapshot: the amounts of a half transfer never show. */
  async #readAll(): Promise<void> {
    const router = this.#router()
    this.#txnNumber++
    const find = { find: 'accounts', batchSize: 100_000 }
    const reply = await this.#statement(router, find, { startTransaction: true, readConcern: { level: 'snapshot' } })
    if (reply?.['ok'] === 1) {
      this.#bank.sums++
      this.#bank.checkSum(this.#name, reply['cursor'].firstBatch as Document[])
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
        this.#bank.violations.push(`${Object.keys(statement)[0]} of ${id} had no effect: ${JSON.stringify(reply)}`)
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
      await this.#bank.cluster.advance(50)
      router = this.#router()
    }
    return 'unknown'
  }

  #router(): string {
    const { mongos } = this.#bank.cluster
    return mongos[this.#random.below(mongos.length)]!
  }

  #statement(router: string, command: Document, more: Document): Promise<Document | null> {
    this.#bank.crashDriver.sent()
    return this.#bank.send({ ...command, ...this.#fields, ...more, $db: 'bank' }, router)
  }

  #end(router: string, name: string, more: Document = {}): Promise<Document | null> {
    this.#bank.crashDriver.sent()
    const concern = { writeConcern: { w: 'majority' } }
    return this.#bank.send({ [name]: 1, ...this.#fields, ...concern, ...more, $db: 'admin' }, router)
  }

  get #fields(): Document {
    return { lsid: this.#lsid, txnNumber: Long.fromNumber(this.#txnNumber), autocommit: false }
  }
}
