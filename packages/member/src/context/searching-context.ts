import {
  RequestFailedError,
  type ActorContext,
  type Address,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
  type RequestOptions,
} from '@shardlab/actor'
import { ForwardingContext } from './forwarding-context.js'
import { HostSearch } from './host-search.js'

/**
 * A request to a member that is down is sent as soon as the member is up, and fails when the search
 * for it ends. `timeoutMs` of a request is the time for its answer, without the search.
 */
export class SearchingContext extends ForwardingContext {
  readonly #findReplicaSetHostTimeoutMs: number

  constructor(context: ActorContext, findReplicaSetHostTimeoutMs: number) {
    super(context)
    this.#findReplicaSetHostTimeoutMs = findReplicaSetHostTimeoutMs
  }

  override request<K extends MessageKind>(
    to: Address,
    kind: K,
    request: RequestOf<K>,
    options?: RequestOptions,
  ): Promise<ReplyOf<K>> {
    const answer = this.context.request(to, kind, request, options)
    if (options?.pinned === true) return answer
    return answer.catch((error: unknown) => this.#requestAgain(to, kind, request, options, error))
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
        return await this.context.request(to, kind, request, options)
      } catch (next) {
        error = next
      }
    }
  }
}
