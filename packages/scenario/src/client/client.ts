/** Sends commands as drivers do, over simulated connections to several mongoses. */
import type { Actor, ActorContext, Address } from '@shardlab/actor'
import { decode, type Document } from '@shardlab/bson'
import { ClusterTimes } from './cluster-times.js'
import { Cursor } from './cursor.js'
import { sendOnce, type Sending } from './attempt.js'
import { ClientFailure, CommandFailure, NetworkFailure, SelectionFailure } from './failures.js'
import { poolRequestedRetry } from './connection-pool.js'
import {
  backoffMs,
  isPassing,
  kindOf,
  noWritesPerformed,
  overloadLabels,
  overloadRetriesMax,
  retryableWriteError,
  type CommandKind,
} from './retry-rules.js'
import { Router, type RouterParts } from './router.js'
import { ServerSelection } from './server-selection.js'
import { Session, SessionPool } from './sessions.js'
import { isEnd, withTransaction } from './transactions.js'
import type {
  Answered,
  Client,
  ClientCounts,
  ClientCursor,
  ClientOptions,
  ClientSession,
  CommandEvent,
  Failed,
  Outcome,
  RunOptions,
  SessionOptions,
  TransactionOptions,
  TransactionOutcome,
} from './types.js'

export interface ClientWorld {
  readonly context: ActorContext
  readonly mongos: readonly Address[]
  /** Unique among all clients. */
  readonly nextConnectionId: () => number
}

const sessionTimeoutMs = 30 * 60_000
const endedSessionsMax = 10_000

export class SimulatedClient implements Client, Actor {
  readonly address: Address
  readonly #context: ActorContext
  readonly #routers: readonly Router[]
  /** Other members to which commands were sent. */
  readonly #others: Router[] = []
  readonly #selection: ServerSelection
  readonly #times = new ClusterTimes()
  readonly #sessions: SessionPool
  readonly #retryReads: boolean
  readonly #retryWrites: boolean
  readonly #onCommand: (event: CommandEvent) => void
  readonly #counts = { sent: 0, retries: 0, poolsCleared: 0 }
  #closed = false

  constructor({ context, mongos, nextConnectionId }: ClientWorld, options: ClientOptions = {}) {
    const { retryReads = true, retryWrites = true, appName = null, onCommand = () => {} } = options
    this.address = context.address
    this.#context = context
    this.#retryReads = retryReads
    this.#retryWrites = retryWrites
    this.#onCommand = onCommand
    this.#sessions = new SessionPool(context.random.fork('sessions'), () => context.now())
    const parts: RouterParts = {
      context,
      nextConnectionId,
      metadata: metadataOf(appName),
      maxPoolSize: options.maxPoolSize ?? 100,
      socketTimeoutMs: options.socketTimeoutMs ?? null,
      login: options.login ?? null,
      heartbeatMs: options.heartbeatMs ?? 10_000,
      onChange: () => this.#selection.changed(),
      onHello: (hello: Document) => this.#times.learn(hello),
      onCleared: () => this.#counts.poolsCleared++,
    }
    this.#routers = (options.seeds ?? mongos).map((address) => new Router(parts, address))
    const direct = (address: Address): Router => this.#direct(parts, address)
    this.#selection = new ServerSelection(context, this.#routers, direct, options.serverSelectionTimeoutMs ?? 30_000)
    for (const router of this.#routers) router.watch()
  }

  get counts(): ClientCounts {
    return { ...this.#counts, connectionsOpened: this.#routers.reduce((sum, { pool }) => sum + pool.opened, 0) }
  }

  receive(): never {
    throw new Error(`${this.address} is a client and receives no requests`)
  }

  available(): readonly Address[] {
    return this.#routers.filter(({ isKnown }) => isKnown).map(({ address }) => address)
  }

  startSession(options: SessionOptions = {}): Session {
    return this.#session(true, options)
  }

  async run(command: Document | Uint8Array, options: RunOptions = {}): Promise<Outcome> {
    const explicit = sessionOf(options.session)
    const session = explicit ?? this.#session(false)
    const outcome = await this.#run(command instanceof Uint8Array ? decode(command) : command, options, session)
    if (explicit === null) session.end()
    return outcome
  }

  commitTransaction(session: ClientSession): Promise<Outcome> {
    return this.#end(sessionOf(session)!, 'commitTransaction')
  }

  abortTransaction(session: ClientSession): Promise<Outcome> {
    return this.#end(sessionOf(session)!, 'abortTransaction')
  }

  withTransaction(
    session: ClientSession,
    body: () => Promise<Failed | null>,
    options?: TransactionOptions,
  ): Promise<TransactionOutcome> {
    const ends = {
      startTransaction: () => session.startTransaction(options),
      commit: () => this.commitTransaction(session),
      abort: () => this.abortTransaction(session),
      isActive: () => session.inTransaction,
    }
    return withTransaction(this.#context, ends, body)
  }

  async cursor(command: Document, options: RunOptions = {}): Promise<ClientCursor | Failed> {
    const explicit = sessionOf(options.session)
    const session = explicit ?? this.#session(false)
    const outcome = await this.#run(command, options, session)
    if (outcome.ok) {
      const run = (next: Document, to: Address): Promise<Outcome> => this.#run(next, { to }, session)
      return new Cursor(command, outcome, run, () => {
        if (explicit === null) session.end()
      })
    }
    if (explicit === null) session.end()
    return outcome
  }

  async close(): Promise<void> {
    const ended = this.#sessions.drain()
    if (ended.length > 0 && this.available().length > 0)
      for (let i = 0; i < ended.length; i += endedSessionsMax)
        await this.#run({ endSessions: ended.slice(i, i + endedSessionsMax), $db: 'admin' }, { retryable: false }, null)
    this.#closed = true
    for (const router of [...this.#routers, ...this.#others]) router.close()
  }

  /** A member that is not a mongos of the client is monitored from then on. */
  #direct(parts: RouterParts, address: Address): Router {
    const known = [...this.#routers, ...this.#others].find((router) => router.address === address)
    if (known !== undefined) return known
    const router = new Router(parts, address)
    this.#others.push(router)
    router.watch()
    return router
  }

  #session(isExplicit: boolean, options: SessionOptions = {}): Session {
    const timeouts = this.#routers.flatMap((router) =>
      router.sessionTimeoutMs === null ? [] : [router.sessionTimeoutMs],
    )
    return new Session(this.#sessions, Math.min(sessionTimeoutMs, ...timeouts), isExplicit, options)
  }

  async #end(session: Session, name: 'commitTransaction' | 'abortTransaction'): Promise<Outcome> {
    const { transaction } = session
    if (transaction === null) return failed(new ClientFailure('No transaction started'), newTally())
    const wasStarted = transaction.state !== 'starting'
    transaction.state = name === 'commitTransaction' ? 'committed' : 'aborted'
    if (!wasStarted) return { ok: true, reply: { ok: 1 }, from: this.#routers[0]!.address, attempts: 0 }
    return this.#run({ [name]: 1, $db: 'admin' }, {}, session)
  }

  /** Never rejects for failures of the cluster. */
  async #run(command: Document, options: RunOptions, session: Session | null): Promise<Outcome> {
    const name = Object.keys(command)[0]!
    // Only the ends of a transaction follow its end.
    if (session?.transaction?.isActive === false && !isEnd(name)) session.transaction = null
    const transaction = session?.transaction ?? null
    if (transaction === null) return this.#sendOf(command, options, session)
    const to = options.to ?? transaction.pinned ?? undefined
    const outcome = await this.#sendOf(command, { ...options, ...(to === undefined ? {} : { to }) }, session)
    return transaction.labelled(outcome, name)
  }

  async #sendOf(command: Document, options: RunOptions, session: Session | null): Promise<Outcome> {
    const { sequences = [], to = null } = options
    const kind = kindOf(command, sequences, options.retryable !== false, session?.inTransaction === true)
    const tally = newTally()
    try {
      if (this.#closed) throw new ClientFailure('the client is closed')
      if (kind.unacknowledged && session?.isExplicit === true)
        throw new ClientFailure('Cannot have explicit session with unacknowledged writes')
      if (session?.ended === true) throw new ClientFailure('Use of expired sessions is not permitted')
      return await this.#attempts({ command, sequences, kind, session, txnNumber: null }, to, tally)
    } catch (error) {
      return failed(error, tally)
    }
  }

  async #attempts(sending: Sending, to: Address | null, tally: Tally): Promise<Outcome> {
    const { kind } = sending
    const avoided = new Set<Address>()
    let mostAttempts = this.#mayRetry(kind) ? 2 : 1
    let kept: Failing | null = null
    let router = await this.#selection.select(to, avoided)
    const transaction = sending.session?.transaction ?? null
    const isNumbered =
      transaction === null && kind.aspect === 'write' && this.#mayRetry(kind) && router.sessionTimeoutMs !== null
    if (isNumbered && sending.session !== null) sending = { ...sending, txnNumber: sending.session.nextTxnNumber() }
    for (;;) {
      tally.attempts++
      tally.from = router.address
      if (transaction !== null) transaction.pinned = router.address
      if (tally.attempts > 1) this.#counts.retries++
      const result = await this.#once(sending, router, tally)
      if (!(result instanceof Error) && result.error === null) return this.#answered(result.reply, tally)
      const failing: Failing =
        result instanceof Error ? { error: result, reply: null } : { error: result.error!, reply: result.reply }
      if (kept === null || !failing.error.labels.includes(noWritesPerformed)) kept = failing
      const isOverload = overloadLabels.every((label) => failing.error.labels.includes(label))
      if (isOverload) mostAttempts = 1 + overloadRetriesMax
      const again = isOverload
        ? this.#mayRetryOverload(kind)
        : this.#mayRetry(kind) && isWorthRetrying(kind, failing.error)
      if (!again || tally.attempts >= mostAttempts) return this.#ended(kept, tally)
      if (isOverload) await this.#context.sleep(this.#context.random.fraction() * backoffMs(tally.attempts))
      avoided.add(router.address)
      // Any mongos can finish a commit, with the recovery token.
      router = await this.#selection.select(isEnd(kind.name) ? null : to, avoided)
    }
  }

  async #once(sending: Sending, router: Router, tally: Tally): Promise<Attempted> {
    router.operations++
    try {
      const parts = {
        times: this.#times,
        retryWrites: this.#retryWrites,
        onSend: (command: Document) => this.#sent(command, router.address, tally.attempts),
      }
      const attempt = await sendOnce(sending, router, parts)
      if (attempt instanceof Error ? isPerhapsDone(attempt, sending.kind) : true)
        tally.mayHaveActed ||= sending.kind.aspect !== 'read'
      return attempt
    } finally {
      router.operations--
    }
  }

  #sent(command: Document, to: Address, attempt: number): void {
    this.#counts.sent++
    this.#onCommand({ name: Object.keys(command)[0]!, command, to, attempt })
  }

  #mayRetry({ name, aspect, retryable }: CommandKind): boolean {
    if (isEnd(name)) return true
    return retryable && (aspect === 'read' ? this.#retryReads : this.#retryWrites)
  }

  #mayRetryOverload({ aspect }: CommandKind): boolean {
    if (aspect === 'other') return this.#retryReads && this.#retryWrites
    return aspect === 'read' ? this.#retryReads : this.#retryWrites
  }

  #answered(reply: Document, { attempts, from }: Tally): Answered {
    return { ok: true, reply, from: from!, attempts }
  }

  #ended({ error, reply }: Failing, tally: Tally): Outcome {
    // The write succeeded; only its write concern failed.
    return reply !== null && reply['ok'] === 1 ? this.#answered(reply, tally) : failed(error, tally)
  }
}

type Attempted = Awaited<ReturnType<typeof sendOnce>>

interface Failing {
  readonly error: CommandFailure | NetworkFailure
  /** The reply with a write concern error; null: none. */
  readonly reply: Document | null
}

const newTally = (): Tally => ({ attempts: 0, mayHaveActed: false, from: null })

interface Tally {
  attempts: number
  mayHaveActed: boolean
  from: Address | null
}

function isWorthRetrying({ aspect }: CommandKind, error: CommandFailure | NetworkFailure): boolean {
  if (aspect === 'write') return error.labels.includes(retryableWriteError) || error.labels.includes(poolRequestedRetry)
  return error instanceof NetworkFailure || isPassing(error.code)
}

function isPerhapsDone(error: CommandFailure | NetworkFailure, { aspect }: CommandKind): boolean {
  if (aspect === 'read') return false
  return error instanceof NetworkFailure ? !error.isUndelivered : !error.labels.includes(noWritesPerformed)
}

function failed(error: unknown, { attempts, mayHaveActed, from }: Tally): Failed {
  const common = { ok: false, from, attempts, mayHaveActed, code: null, labels: [], reply: null } as const
  if (error instanceof CommandFailure) {
    const { code, message, labels, reply } = error
    return { ...common, kind: 'command', code, message, labels, reply }
  }
  if (error instanceof NetworkFailure)
    return { ...common, kind: 'network', message: error.message, labels: error.labels }
  if (error instanceof SelectionFailure) return { ...common, kind: 'selection', message: error.message }
  if (error instanceof ClientFailure) return { ...common, kind: 'client', message: error.message }
  throw error
}

function sessionOf(session: ClientSession | undefined): Session | null {
  if (session === undefined || session instanceof Session) return session ?? null
  throw new TypeError('the session comes from another kind of client')
}

function metadataOf(appName: string | null): Document {
  return {
    ...(appName === null ? {} : { application: { name: appName } }),
    driver: { name: 'shardlab simulated client', version: '1' },
    os: { type: 'simulated' },
  }
}
