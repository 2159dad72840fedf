import { checkBuilt, giveUpTurn, type TimeLimit, type TimeSlice } from '@shardlab/member'
import type { ForeignBatch, JoinRequest, PipelineRun } from '@shardlab/query'
import type { MongosInvocation, RoutingHost } from '../host/mongos-host.js'
import type { DocumentStream } from './document-stream.js'

export interface ForeignStreams {
  /** @throws CommandError of parsing, routing, shards and the requests to them */
  read(invocation: MongosInvocation, request: JoinRequest): Promise<ForeignBatch>
  /** As in {@link DocumentStream}, for reads that are not at their end. */
  detach(): void
  kill(host: RoutingHost): void
}

export class PipelineStream implements DocumentStream {
  readonly #input: DocumentStream
  readonly #run: PipelineRun
  readonly #foreign: ForeignStreams
  readonly #timeLimit: TimeLimit | null
  readonly #slice: TimeSlice
  #taken = 0
  #ended = false
  #done = false

  /**
   * @param timeLimit the limit that the pipeline was compiled with; it counts while a command reads
   */
  constructor(
    input: DocumentStream,
    run: PipelineRun,
    foreign: ForeignStreams,
    timeLimit: TimeLimit | null,
    slice: TimeSlice,
  ) {
    this.#input = input
    this.#run = run
    this.#foreign = foreign
    this.#timeLimit = timeLimit
    this.#slice = slice
  }

  get done(): boolean {
    return this.#done
  }

  take(): Uint8Array | null {
    this.#timeLimit?.resume()
    const run = this.#run
    const slice = this.#slice
    const { output } = run
    for (;;) {
      if (this.#taken < output.length) {
        const result = output[this.#taken++]!
        checkBuilt(result)
        return result
      }
      if (slice.isOver) return null
      output.length = 0
      this.#taken = 0
      if (run.hasWork) {
        if (run.request !== null) return null
        slice.add(run.step())
        continue
      }
      if (this.#ended) {
        this.#done = true
        return null
      }
      const document = run.satisfied ? null : this.#input.take()
      if (document !== null) {
        run.push(document)
        slice.worked()
      } else if (run.satisfied || this.#input.done) {
        this.#ended = true
        run.end()
      } else return null
    }
  }

  /** Gives up the turn if the slice is over, which is why {@link take} has returned null then. */
  async fill(invocation: MongosInvocation): Promise<void> {
    const { request } = this.#run
    if (this.#slice.isOver) await giveUpTurn(invocation.host.context, invocation.operation, this.#slice)
    else if (request === null) await this.#input.fill(invocation)
    else this.#run.serve(await this.#foreign.read(invocation, request))
  }

  detach(): void {
    this.#timeLimit?.pause()
    this.#input.detach()
    this.#foreign.detach()
  }

  kill(host: RoutingHost): void {
    this.#input.kill(host)
    this.#foreign.kill(host)
  }
}
