import type { PipelineRun } from '@shardlab/query'
import type { MongosInvocation } from '../command/invocation.js'
import type { DocumentStream } from './document-stream.js'

/** The merging part of a pipeline over the shards' parts. */
export class PipelineStream implements DocumentStream {
  readonly #input: DocumentStream
  readonly #run: PipelineRun
  #taken = 0
  #ended = false

  constructor(input: DocumentStream, run: PipelineRun) {
    this.#input = input
    this.#run = run
  }

  get done(): boolean {
    return this.#ended && this.#taken >= this.#run.output.length
  }

  take(): Uint8Array | null {
    const { output } = this.#run
    for (;;) {
      if (this.#taken < output.length) return output[this.#taken++]!
      output.length = 0
      this.#taken = 0
      if (this.#ended) return null
      const document = this.#run.satisfied ? null : this.#input.take()
      if (document !== null) this.#run.push(document)
      else if (this.#run.satisfied || this.#input.done) {
        this.#ended = true
        this.#run.end()
      } else return null
    }
  }

  fill(invocation: MongosInvocation): Promise<void> {
    return this.#input.fill(invocation)
  }

  detach(): void {
    this.#input.detach()
  }

  kill(host: MongosInvocation['host']): void {
    this.#input.kill(host)
  }
}
