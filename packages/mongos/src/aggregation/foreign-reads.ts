import type { ForeignBatch, JoinRequest } from '@shardlab/query'
import type { MongosInvocation, RoutingHost } from '../host/mongos-host.js'
import type { DocumentStream } from '../cursors/document-stream.js'
import type { ForeignStreams } from '../cursors/pipeline-stream.js'
import { invocationOfRead, type ReadSettings } from './aggregate-body.js'

const batchCount = 1000

export type OpenStream = (invocation: MongosInvocation) => Promise<DocumentStream>

/** Each read is an aggregate of the router, so its collection may be on any member. */
export class ForeignReads implements ForeignStreams {
  readonly #aggregate: MongosInvocation
  readonly #settings: ReadSettings
  readonly #open: OpenStream
  readonly #streams = new Set<DocumentStream>()

  constructor(aggregate: MongosInvocation, settings: ReadSettings, open: OpenStream) {
    this.#aggregate = aggregate
    this.#settings = settings
    this.#open = open
  }

  async read(invocation: MongosInvocation, { read, cursor }: JoinRequest): Promise<ForeignBatch> {
    const inner = invocationOfRead(this.#aggregate, invocation, read, this.#settings)
    const stream = (cursor as DocumentStream | null) ?? (await this.#open(inner))
    this.#streams.add(stream)
    const documents: Uint8Array[] = []
    while (documents.length < batchCount) {
      const document = stream.take()
      if (document !== null) documents.push(document)
      else if (stream.done) {
        this.#streams.delete(stream)
        stream.kill(invocation.host)
        return { documents, cursor: null }
      } else if (documents.length > 0) break
      else await stream.fill(inner)
    }
    return { documents, cursor: stream }
  }

  detach(): void {
    for (const stream of this.#streams) stream.detach()
  }

  kill(host: RoutingHost): void {
    for (const stream of this.#streams) stream.kill(host)
    this.#streams.clear()
  }
}
