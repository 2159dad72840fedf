/**
 * Requests the next batch from all drained shards at once. Server: async_results_merger.cpp,
 * router_stage_merge.
 */
import { failureOf, InputMerger, type MergeOrder } from '@shardlab/member'
import type { MongosInvocation, RoutingHost } from '../host/mongos-host.js'
import type { DocumentStream } from './document-stream.js'
import type { BufferedCursor } from './remote-cursor.js'

export class ResultsMerger implements DocumentStream {
  readonly #merger: InputMerger<BufferedCursor>
  readonly #batchSize: number
  readonly #allowPartial: boolean
  #isPartial: boolean

  /**
   * @param order null: the streams are unordered
   * @param batchSize of the getMore requests to shards; 0: as many as fit
   * @param partial whether unreachable shards may be left out, and whether some already were;
   *   default: neither
   */
  constructor(
    remotes: readonly BufferedCursor[],
    order: MergeOrder | null,
    batchSize: number,
    partial: { readonly allowed: boolean; readonly isSo: boolean } = { allowed: false, isSo: false },
  ) {
    this.#allowPartial = partial.allowed
    this.#isPartial = partial.isSo
    this.#merger = new InputMerger(remotes, order)
    this.#batchSize = batchSize
  }

  get done(): boolean {
    return this.#merger.done
  }

  get isPartial(): boolean {
    return this.#isPartial
  }

  take(): Uint8Array | null {
    return this.#merger.take()
  }

  async fill(invocation: MongosInvocation): Promise<void> {
    const dry = this.#merger.dry()
    const failures = await invocation.host.context.all(
      dry.map((remote) => failureOf(remote.fill(invocation, this.#batchSize))),
    )
    failures.forEach((failure, i) => {
      if (failure === null) return
      if (!this.#allowPartial || !dry[i]!.cursor.unreachable) throw failure.error
      this.#isPartial = true
    })
  }

  detach(): void {
    for (const remote of this.#merger.inputs) remote.detach()
    this.#merger.forgetKeys()
  }

  kill(host: RoutingHost): void {
    for (const remote of this.#merger.inputs) remote.cursor.kill(host)
  }
}
