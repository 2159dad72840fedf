import { createDeferred, type Deferred } from '@shardlab/actor'
import type { HostAnswer, HostCall } from './host-commands.js'
import { fromPortable } from './portable-error.js'

type Command<Commands, N extends keyof Commands> = Commands[N] extends (...args: infer A) => infer R
  ? { readonly args: A; readonly result: Awaited<R> }
  : never

export type ArgsOf<Commands, N extends keyof Commands> = Command<Commands, N>['args'] & readonly unknown[]
export type ResultOf<Commands, N extends keyof Commands> = Command<Commands, N>['result']

/** The supervisor's calls of one host that have no answer yet. */
export class HostCalls<Commands> {
  readonly #pending = new Map<number, Deferred<unknown>>()
  #lastId = 0
  #why: Error | null = null

  /** Rejects with the host's error, or when the host ends before it has answered. */
  call<N extends keyof Commands & string>(
    command: N,
    args: ArgsOf<Commands, N>,
    send: (call: HostCall) => void,
  ): Promise<ResultOf<Commands, N>> {
    // Nothing would settle the call.
    if (this.#why !== null) return Promise.reject(this.#why)
    const call = createDeferred<unknown>()
    const callId = ++this.#lastId
    this.#pending.set(callId, call)
    send({ callId, command, args })
    return call.promise
  }

  settle(answer: HostAnswer): void {
    const call = this.#pending.get(answer.callId)
    this.#pending.delete(answer.callId)
    if (answer.type === 'done') call?.resolve(answer.value)
    else call?.reject(fromPortable(answer.error))
  }

  /**
   * The host answers nothing any more.
   * @param later of calls from now on
   */
  end(error: Error, later: Error): void {
    this.#why = later
    for (const call of this.#pending.values()) call.reject(error)
    this.#pending.clear()
  }
}
