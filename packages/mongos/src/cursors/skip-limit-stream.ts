import type { MongosInvocation, RoutingHost } from '../host/mongos-host.js'
import type { DocumentStream } from './document-stream.js'

export class SkipLimitStream implements DocumentStream {
  readonly #input: DocumentStream
  #skip: number
  #left: number

  /** @param limit 0: none */
  constructor(input: DocumentStream, skip: number, limit: number) {
    this.#input = input
    this.#skip = skip
    this.#left = limit === 0 ? Number.POSITIVE_INFINITY : limit
  }

  get done(): boolean {
    return this.#left === 0 || this.#input.done
  }

  get isPartial(): boolean {
    return this.#input.isPartial === true
  }

  take(): Uint8Array | null {
    if (this.#left === 0) return null
    for (;;) {
      const document = this.#input.take()
      if (document === null) return null
      if (this.#skip > 0) {
        this.#skip--
        continue
      }
      this.#left--
      return document
    }
  }

  fill(invocation: MongosInvocation): Promise<void> {
    return this.#input.fill(invocation)
  }

  detach(): void {
    this.#input.detach()
  }

  kill(host: RoutingHost): void {
    this.#input.kill(host)
  }
}
