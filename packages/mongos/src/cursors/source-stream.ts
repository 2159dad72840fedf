import type { DocumentSource } from '@shardlab/member'
import type { DocumentStream } from './document-stream.js'

/** The router produces the documents. */
export class SourceStream implements DocumentStream {
  readonly #source: DocumentSource
  #ended = false

  constructor(source: DocumentSource) {
    this.#source = source
  }

  get done(): boolean {
    return this.#ended
  }

  take(): Uint8Array | null {
    const document = this.#ended ? null : this.#source.next()
    this.#ended = document === null
    return document
  }

  fill(): Promise<void> {
    return Promise.resolve()
  }

  detach(): void {}

  kill(): void {
    this.#ended = true
  }
}
