import {
  RequestFailedError,
  type ActorContext,
  type Address,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
  type RequestOptions,
} from '@shardlab/actor'
import { ErrorCodes } from '@shardlab/bson'
import { replyError } from '../replies/command-reply.js'
import { ForwardingContext } from './forwarding-context.js'
import { HostSearch } from './host-search.js'
import { SetTargeter } from './set-targeter.js'

/** Server: category NotPrimaryError. */
const stateChanges: ReadonlySet<number> = new Set([
  ErrorCodes.NotWritablePrimary,
  ErrorCodes.PrimarySteppedDown,
  ErrorCodes.InterruptedDueToReplStateChange,
  ErrorCodes.NotPrimaryNoSecondaryOk,
  ErrorCodes.NotPrimaryOrSecondary,
])
/** The member has not run the command. */
const refusals: ReadonlySet<number> = new Set([ErrorCodes.NotWritablePrimary, ErrorCodes.NotPrimaryNoSecondaryOk])

/**
 * Requests may address replica sets: their primaries answer. A request to a member that is down, or
 * to a set without a primary, is sent as soon as that changes, and fails when the search ends.
 * `timeoutMs` of a request is the time for its answer, without the search. A context whose
 * `findReplicaSetHostTimeoutMs` is 0 does not wait.
 */
export class SetContext extends ForwardingContext {
  readonly #findReplicaSetHostTimeoutMs: number
  readonly #targeter: SetTargeter

  constructor(context: ActorContext, findReplicaSetHostTimeoutMs: number) {
    super(context)
    this.#findReplicaSetHostTimeoutMs = findReplicaSetHostTimeoutMs
    this.#targeter = new SetTargeter(context)
  }

  override request<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): Promise<ReplyOf<K>> {
    const answer = this.#requestOnce(to, kind, request, options)
    if (options?.pinned === true || this.#findReplicaSetHostTimeoutMs === 0) return answer
    return answer.catch((error: unknown) => this.#requestAgain(to, kind, request, options, error))
  }

  #requestOnce<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options: RequestOptions | undefined,
  ): Promise<ReplyOf<K>> {
    if (kind !== 'node.command' || this.#targeter.membersOf(to) === null)
      return this.#targeter.request(to, kind, request, options)
    let receiver = to
    const answer = this.#targeter.request(to, kind, request, options, (member) => (receiver = member))
    return answer.then((reply) => this.#checkState(to, receiver, reply as ReplyOf<'node.command'>) as ReplyOf<K>)
  }

  /**
   * A command reports with an error in its reply that the member is not primary.
   * @throws RequestFailedError so that the primary is searched
   */
  #checkState(set: Address, member: Address, reply: ReplyOf<'node.command'>): ReplyOf<'node.command'> {
    const error = replyError(reply.body)
    if (error === null || !stateChanges.has(error.code)) return reply
    this.#targeter.forget(set, member)
    if (!refusals.has(error.code)) return reply
    throw new RequestFailedError('unreachable', set, error.message, true)
  }

  override send<K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>): void {
    this.#targeter.send(to, kind, request)
  }

  async #requestAgain<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options: RequestOptions | undefined,
    failure: unknown,
  ): Promise<ReplyOf<K>> {
    const search = new HostSearch(this.now(), this.#findReplicaSetHostTimeoutMs)
    for (let error = failure; ;) {
      const searches = error instanceof RequestFailedError && error.undelivered && error.reason === 'unreachable'
      const pauseMs = searches ? search.nextPauseMs(this.now()) : null
      if (pauseMs === null) throw error
      await this.sleep(pauseMs, options?.signal)
      try {
        return await this.#requestOnce(to, kind, request, options)
      } catch (next) {
        error = next
      }
    }
  }
}
