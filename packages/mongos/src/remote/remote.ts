/**
 * Finds the primary, repeats idempotent requests, and converts failures to the server's errors.
 * Server: async_requests_sender.cpp, remote_command_targeter.
 */
import {
  gossipedKinds,
  hostNotFound,
  RequestFailedError,
  type ActorContext,
  type Address,
  type CancelSignal,
  type ClusterClock,
  type Gossiped,
  type MessageKind,
  type NodeCommand,
  type NodeReply,
  type ReplyOf,
  type RequestOf,
  type RequestOptions,
  type UnsentCommand,
} from '@shardlab/actor'
import { CommandError, ErrorCodes, findField, firstFieldName, isRetriableErrorCode } from '@shardlab/bson'
import { HostSearch, maxTimeExpired, SetTargeter, withComment } from '@shardlab/member'
import type { Operation } from '../dispatch/operation.js'
import type { MongosLimits } from '../options.js'
import type { RouterTransaction } from '../transactions/router-transaction.js'
import { isOk } from './command-reply.js'
import { HedgedReads, type HedgingParameters } from './hedging.js'
import { noSuitableMember, readPreferenceOf, type RoutedPreference } from './routed-preference.js'

export type RemoteCommand = UnsentCommand

export interface RemoteOptions {
  readonly findReplicaSetHostTimeoutMs: number
  readonly limits: MongosLimits
  readonly stopping: CancelSignal
  /** Of a member, or of a set with one member. */
  hostOf(address: Address): string
  setNameOf(address: Address): string
  hedging(): HedgingParameters
  /** Whether commands for members get the comment of the operation. */
  readonly forwardsComments: boolean
}

/** Null: background work of no operation. */
export type Requester = Operation | null

interface Sent {
  readonly to: Address
  /** The member of the set `to` that the last attempt was sent to. Else `to`. */
  receiver: Address
  readonly requester: Requester
  readonly idempotent: boolean
  readonly pinned: boolean
}

interface SentCommand extends Sent {
  readonly command: RemoteCommand
  readonly batchBytesMax: number
}

/** `receiver`: the member that has replied. */
type UseOfReply<R> = (reply: NodeReply, receiver: Address) => R | Promise<R>

const unchangedReply = (reply: NodeReply): NodeReply => reply

interface ExchangeFailures {
  readonly broken: number
  readonly search: HostSearch | null
}

const noFailures: ExchangeFailures = { broken: 0, search: null }

const operationIds = 2 ** 31
const routerKeys = 2 ** 21

/** Different for the addresses of the routers of a cluster, which differ in their numbers only. */
function keyOfRouter(address: Address): number {
  let hash = 0
  for (let i = 0; i < address.length; i++) hash = (Math.imul(hash, 31) + address.charCodeAt(i)) >>> 0
  return (hash % routerKeys) * operationIds
}

export class Remote {
  readonly hedgedReads: HedgedReads
  readonly #context: ActorContext
  readonly #clock: ClusterClock
  readonly #options: RemoteOptions
  readonly #targeter: SetTargeter
  /** Their last reply was that they are not primary. */
  readonly #withoutPrimary = new Set<Address>()
  readonly #routerKey: number

  constructor(context: ActorContext, clock: ClusterClock, options: RemoteOptions) {
    this.#context = context
    this.#clock = clock
    this.#options = options
    this.#targeter = new SetTargeter(context)
    this.hedgedReads = new HedgedReads(context, clock, this.#targeter, () => options.hedging())
    this.#routerKey = keyOfRouter(context.address)
  }

  /** A request that is lost when the receiver, or the primary of a set, cannot be reached. */
  send<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>): void {
    this.#targeter.send(to, kind, request)
  }

  /** Ends the reads that members of the sets execute for the operation, which was killed. */
  killReadsOf(operationId: number, sets: Iterable<Address>): void {
    const operationKey = this.#routerKey + operationId
    for (const set of sets)
      for (const member of this.#context.resolve(set))
        this.#context.send(member, 'node.kill-operation', { operationKey })
  }

  /**
   * Takes over the member's cluster time and operation time. The reply may be an error of the
   * command.
   * @param idempotent sent again if the member failed while it ran, or replied with a retriable
   *   error
   * @param pinned must run in the current process of the member: fails at once if it is gone
   * @param batchBytesMax of the documents in a batch; default 0: 16 MB
   * @throws CommandError 133 FailedToSatisfyReadPreference: the member stayed unreachable; 6
   *   HostUnreachable: it failed while it ran the command, or is gone and was pinned; 50
   *   MaxTimeMSExpired
   */
  command(
    to: Address,
    command: RemoteCommand,
    requester: Requester,
    idempotent: boolean,
    pinned = false,
    batchBytesMax = 0,
  ): Promise<NodeReply> {
    const transaction = requester?.transaction ?? null
    const sent = { to, receiver: to, command, requester, idempotent, pinned, batchBytesMax }
    if (transaction !== null) return this.#sendInTransaction(transaction, sent, unchangedReply)
    return this.#send(sent, unchangedReply, null, 0)
  }

  /** As {@link command}, with `use` applied to the reply. Rejects with what `use` throws. */
  commandFor<R>(
    to: Address,
    command: RemoteCommand,
    requester: Requester,
    idempotent: boolean,
    use: UseOfReply<R>,
    batchBytesMax = 0,
  ): Promise<R> {
    const transaction = requester?.transaction ?? null
    const sent = { to, receiver: to, command, requester, idempotent, pinned: false, batchBytesMax }
    if (transaction !== null) return this.#sendInTransaction(transaction, sent, use)
    return this.#send(sent, use, null, 0)
  }

  /** A statement is sent once: sent again, it would find another state of the transaction. */
  async #sendInTransaction<R>(transaction: RouterTransaction, sent: SentCommand, use: UseOfReply<R>): Promise<R> {
    const { to, command, pinned } = sent
    if (transaction.ready !== null) await this.#context.all([transaction.ready])
    const ends = transaction.isEnding(command.body)
    const body = ends ? command.body : transaction.bodyFor(to, command.body, pinned)
    const once = { ...sent, command: { ...command, body }, idempotent: ends && sent.idempotent }
    const answer = this.#send(
      once,
      (reply, receiver) => use({ ...reply, body: transaction.noteReply(to, reply.body) }, receiver),
      null,
      0,
    )
    return ends ? answer : transaction.expect(answer)
  }

  #send<R>(sent: SentCommand, use: UseOfReply<R>, search: HostSearch | null, retries: number): Promise<R> {
    const { command } = sent
    const request: NodeCommand = {
      db: command.db,
      body: this.#options.forwardsComments ? withComment(command.body, sent.requester?.comment ?? null) : command.body,
      sequences: command.sequences,
      shardVersion: command.shardVersion,
      databaseVersion: command.databaseVersion,
      stmtIds: command.stmtIds,
      clusterTime: this.#clock.time,
      operationKey: sent.requester === null ? 0 : this.#routerKey + sent.requester.id,
      batchBytesMax: sent.batchBytesMax,
    }
    return this.#exchange('node.command', request, sent, noFailures, (reply) =>
      this.#replied(sent, use, search, retries, reply),
    )
  }

  #replied<R>(
    sent: SentCommand,
    use: UseOfReply<R>,
    search: HostSearch | null,
    retries: number,
    reply: NodeReply,
  ): R | Promise<R> {
    const { to, receiver, idempotent } = sent
    this.#clock.advance(reply.clusterTime)
    sent.requester?.observe(reply.operationTime)
    sent.requester?.members?.add(receiver)
    const code = isOk(reply.body) ? undefined : findField(reply.body, 'code')?.asNumber()
    const refused = code === ErrorCodes.NotWritablePrimary || code === ErrorCodes.NotPrimaryNoSecondaryOk
    // Once the router has marked the member as not primary, a refused command was not executed.
    const mayRepeat = idempotent || (refused && this.#withoutPrimary.has(to))
    if (receiver !== to) {
      if (code !== undefined && isNotPrimaryCode(code)) this.#targeter.forget(to, receiver)
    } else if (refused) this.#withoutPrimary.add(to)
    else if (this.#withoutPrimary.size > 0) this.#withoutPrimary.delete(to)
    if (refused && mayRepeat) return this.#sendToPrimary(sent, use, search, retries + 1)
    if (!idempotent || code === undefined || !isRetriableErrorCode(code)) return use(reply, receiver)
    if (retries < this.#options.limits.remoteRetriesMax) return this.#sendAgain(sent, use, search, retries)
    this.#limitReached('remoteRetriesMax', this.#options.limits.remoteRetriesMax)
    return use(reply, receiver)
  }

  async #sendToPrimary<R>(
    sent: SentCommand,
    use: UseOfReply<R>,
    search: HostSearch | null,
    retries: number,
  ): Promise<R> {
    const preference = this.#preferenceOf(sent.to, sent.command.body)
    return this.#send(sent, use, await this.#lookForHost(sent, preference, search), retries)
  }

  async #sendAgain<R>(sent: SentCommand, use: UseOfReply<R>, search: HostSearch | null, retries: number): Promise<R> {
    await this.pause(this.#options.limits.firstRetryPauseMs << retries, sent.requester)
    return this.#send(sent, use, search, retries + 1)
  }

  /** @throws CommandError 133 when the search has taken too long */
  async #lookForHost(
    { to, requester }: Sent,
    preference: RoutedPreference | null,
    search: HostSearch | null,
  ): Promise<HostSearch> {
    const nowMs = this.#context.now()
    const searching = search ?? new HostSearch(nowMs, this.#options.findReplicaSetHostTimeoutMs)
    const pauseMs = searching.nextPauseMs(nowMs)
    if (pauseMs === null) {
      const set = this.#options.setNameOf(to)
      throw preference === null ? hostNotFound(set) : noSuitableMember(set, preference)
    }
    await this.pause(pauseMs, requester)
    return searching
  }

  /** Null: the primary serves the command, or the only member. */
  #preferenceOf(to: Address, body: Uint8Array): RoutedPreference | null {
    return this.#targeter.membersOf(to) === null ? null : readPreferenceOf(body)
  }

  /**
   * For any other kind of request.
   * @throws as {@link command}
   */
  request<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    requester: Requester,
    idempotent = true,
  ): Promise<ReplyOf<K>> {
    const sent = { to, receiver: to, requester, idempotent, pinned: false }
    if (!gossipedKinds.has(kind)) return this.#exchange(kind, request, sent, noFailures, (reply) => reply)
    const timed = { ...(request as object), clusterTime: this.#clock.time } as RequestOf<K>
    return this.#exchange(kind, timed, sent, noFailures, (reply) => {
      const { clusterTime } = reply as Gossiped
      if (clusterTime != null) this.#clock.advance(clusterTime)
      return reply
    })
  }

  #exchange<K extends MessageKind, R>(
    kind: K,
    request: RequestOf<K>,
    sent: Sent,
    failures: ExchangeFailures,
    use: (reply: ReplyOf<K>) => R | Promise<R>,
  ): Promise<R> {
    const { to, requester } = sent
    let options: RequestOptions | undefined
    if (requester !== null && requester.deadlineMs !== null) {
      try {
        options = { timeoutMs: requester.remainingMs(this.#context.now())! }
      } catch (error) {
        return Promise.reject(error)
      }
    }
    const members = this.#targeter.membersOf(to)
    const answer =
      members === null
        ? this.#context.request(to, kind, request, options)
        : this.#requestSet(members, kind, request, sent, options)
    const retry = (error: unknown) => this.#exchangeAgain(kind, request, sent, failures, use, error)
    return requester === null ? answer.then(use, retry) : requester.interruptible(answer, use, retry)
  }

  #requestSet<K extends MessageKind>(
    members: readonly Address[],
    kind: K,
    request: RequestOf<K>,
    sent: Sent,
    options: RequestOptions | undefined,
  ): Promise<ReplyOf<K>> {
    const { to } = sent
    const sending = (member: Address): void => void (sent.receiver = member)
    const command = kind === 'node.command' ? (request as NodeCommand) : null
    const preference = command === null ? null : readPreferenceOf(command.body)
    if (command === null || preference === null) return this.#targeter.request(to, kind, request, options, sending)
    return this.hedgedReads.isWanted(command.body, preference)
      ? (this.hedgedReads.send(to, members, preference, command, options, sending) as Promise<ReplyOf<K>>)
      : this.#targeter.requestSuitable(to, members, preference, kind, request, options, sending)
  }

  async #exchangeAgain<K extends MessageKind, R>(
    kind: K,
    request: RequestOf<K>,
    sent: Sent,
    { broken, search }: ExchangeFailures,
    use: (reply: ReplyOf<K>) => R | Promise<R>,
    error: unknown,
  ): Promise<R> {
    const { to, receiver, idempotent, pinned } = sent
    const { limits } = this.#options
    if (!(error instanceof RequestFailedError)) throw error
    if (error.reason === 'timed-out') throw maxTimeExpired()
    if (error.undelivered) {
      if (pinned) throw this.#refusedError(to)
      const body = kind === 'node.command' ? (request as RequestOf<'node.command'>).body : null
      const preference = body === null ? null : this.#preferenceOf(to, body)
      const searching = await this.#lookForHost(sent, preference, search)
      return this.#exchange(kind, request, sent, { broken, search: searching }, use)
    }
    const name = kind === 'node.command' ? firstFieldName((request as RequestOf<'node.command'>).body)! : kind
    if (!idempotent) throw this.#brokenError(receiver, name)
    if (broken >= limits.remoteRetriesMax) {
      this.#limitReached('remoteRetriesMax', limits.remoteRetriesMax)
      throw this.#brokenError(receiver, name)
    }
    return this.#exchange(kind, request, sent, { broken: broken + 1, search: null }, use)
  }

  /** @throws CommandError 11600 InterruptedAtShutdown, 50 MaxTimeMSExpired; of a killed one */
  async pause(durationMs: number, requester: Requester): Promise<void> {
    const leftMs = requester?.remainingMs(this.#context.now())
    try {
      const sleep = this.#context.sleep(
        leftMs === undefined ? durationMs : Math.min(durationMs, leftMs),
        this.#options.stopping,
      )
      await (requester === null ? sleep : requester.interruptible(sleep))
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
      throw new CommandError('InterruptedAtShutdown', 'interrupted at shutdown')
    }
  }

  #refusedError(to: Address): CommandError {
    const host = this.#options.hostOf(to)
    return new CommandError(
      'HostUnreachable',
      `Error connecting to ${host} (${host}) :: caused by :: Connection refused`,
    )
  }

  #brokenError(to: Address, name: string): CommandError {
    return new CommandError(
      'HostUnreachable',
      `network error while attempting to run command '${name}' on host '${this.#options.hostOf(to)}'`,
    )
  }

  #limitReached(limit: string, value: number): void {
    this.#context.emit({ type: 'limit', atMs: this.#context.now(), member: this.#context.address, limit, value })
  }
}

/** Server: category NotPrimaryError. */
function isNotPrimaryCode(code: number): boolean {
  return notPrimaryCodes.has(code)
}

const notPrimaryCodes: ReadonlySet<number> = new Set([
  ErrorCodes.NotWritablePrimary,
  ErrorCodes.PrimarySteppedDown,
  ErrorCodes.InterruptedDueToReplStateChange,
  ErrorCodes.NotPrimaryNoSecondaryOk,
  ErrorCodes.NotPrimaryOrSecondary,
])
