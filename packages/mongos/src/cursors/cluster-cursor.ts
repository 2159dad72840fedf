import { DocumentWriter, FieldIterator, type RawValue } from '@shardlab/bson'
import { batchBytesMax, defaultFirstBatch, defaultSliceLimits, giveUpTurn, TimeSlice } from '@shardlab/member'
import type { BatchRequest, ClusterCursor, MongosInvocation, RoutingHost } from '../host/mongos-host.js'
import { replyWriterFor } from '../remote/command-reply.js'
import type { DocumentStream } from './document-stream.js'
import type { RemoteCursor } from './remote-cursor.js'

/** The member's batches go to the client unchanged. */
export class SingleMemberCursor implements ClusterCursor {
  readonly ns: string
  readonly multiTarget = false
  readonly #remote: RemoteCursor
  #exhausted = false

  constructor(remote: RemoteCursor, ns = remote.ns) {
    this.ns = ns
    this.#remote = remote
  }

  get exhausted(): boolean {
    return this.#exhausted
  }

  async next(
    invocation: MongosInvocation,
    { batchSize, awaitMs }: BatchRequest,
    ownId: bigint,
  ): Promise<DocumentWriter> {
    if (this.#remote.id === 0n) {
      this.#exhausted = true
      return new DocumentWriter(384)
        .startDocument('cursor')
        .startArray('nextBatch')
        .end()
        .int64('id', 0n)
        .string('ns', this.ns)
        .end()
    }
    const { body, batch } = await this.#remote.getMore(invocation, batchSize, awaitMs)
    this.#exhausted = this.#remote.id === 0n && !fills(batch, batchSize)
    return replyWriterFor(body)
      .startDocument('cursor')
      .value('nextBatch', batch)
      .int64('id', this.#exhausted ? 0n : ownId)
      .string('ns', this.ns)
      .end()
  }

  detach(): void {}

  kill(host: RoutingHost): void {
    this.#remote.kill(host)
  }
}

/** @param batchSize 0: any number, which no batch fills */
export function fills(batch: RawValue, batchSize: number): boolean {
  if (batchSize === 0) return false
  let count = 0
  for (const it = new FieldIterator(batch.bytes, batch.start); count < batchSize && it.next();) count++
  return count === batchSize
}

export class MergedCursor implements ClusterCursor {
  readonly ns: string
  readonly multiTarget = true
  readonly #stream: DocumentStream
  /** The document did not fit into the last batch. */
  #pending: Uint8Array | null = null
  #exhausted = false

  constructor(ns: string, stream: DocumentStream) {
    this.ns = ns
    this.#stream = stream
  }

  get exhausted(): boolean {
    return this.#exhausted
  }

  /** Not all versions have a field for it. */
  writePartial(writer: DocumentWriter, { host }: MongosInvocation): DocumentWriter {
    if (this.#stream.isPartial === true && host.behaviours.partialResultsAreReported)
      writer.bool('partialResultsReturned', true)
    return writer
  }

  async next(invocation: MongosInvocation, { batchSize }: BatchRequest, ownId: bigint): Promise<DocumentWriter> {
    const writer = new DocumentWriter(4096).startDocument('cursor').startArray('nextBatch')
    await this.#write(writer, invocation, batchSize === 0 ? Number.POSITIVE_INFINITY : batchSize)
    writer.end()
    return this.writePartial(writer, invocation)
      .int64('id', this.exhausted ? 0n : ownId)
      .string('ns', this.ns)
      .end()
  }

  /**
   * Writes only the array.
   * @param batchSize undefined: the server's default
   */
  async writeFirstBatch(
    writer: DocumentWriter,
    invocation: MongosInvocation,
    batchSize: number | undefined,
  ): Promise<void> {
    writer.startArray('firstBatch')
    await this.#write(writer, invocation, batchSize ?? defaultFirstBatch)
    writer.end()
  }

  detach(): void {
    this.#stream.detach()
    if (this.#pending !== null) this.#pending = new Uint8Array(this.#pending)
  }

  kill(host: RoutingHost): void {
    this.#stream.kill(host)
  }

  async #write(writer: DocumentWriter, invocation: MongosInvocation, countMax: number): Promise<void> {
    const start = writer.length
    const { context } = invocation.host
    const slice = new TimeSlice(context, defaultSliceLimits)
    for (let count = 0; count < countMax;) {
      if (slice.isOver) await giveUpTurn(context, invocation.operation, slice)
      const document = this.#pending ?? this.#stream.take()
      this.#pending = null
      if (document === null) {
        if (this.#stream.done) {
          this.#exhausted = true
          break
        }
        await this.#stream.fill(invocation)
      } else if (count > 0 && writer.length - start + document.length > batchBytesMax) {
        this.#pending = document
        break
      } else {
        writer.document(String(count++), document)
        slice.worked()
      }
    }
  }
}
