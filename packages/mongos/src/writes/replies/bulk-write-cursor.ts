import { DocumentWriter } from '@shardlab/bson'
import { bulkWriteNs, countOfFirstBatch } from '@shardlab/member'
import type { BatchRequest, ClusterCursor, MongosInvocation } from '../../host/mongos-host.js'

/** Results that did not fit into the first batch. The router holds them; no shard is asked. */
export class BulkWriteCursor implements ClusterCursor {
  readonly ns = bulkWriteNs
  readonly multiTarget = false
  readonly #items: readonly Uint8Array[]
  #at = 0

  constructor(items: readonly Uint8Array[]) {
    this.#items = items
  }

  get exhausted(): boolean {
    return this.#at >= this.#items.length
  }

  async next(_invocation: MongosInvocation, { batchSize }: BatchRequest, ownId: bigint): Promise<DocumentWriter> {
    const left = this.#items.slice(this.#at)
    const count = countOfFirstBatch(left, batchSize === 0 ? undefined : batchSize)
    this.#at += count
    return new DocumentWriter(512)
      .startDocument('cursor')
      .documents('nextBatch', left.slice(0, count))
      .int64('id', this.exhausted ? 0n : ownId)
      .string('ns', this.ns)
      .end()
  }

  detach(): void {}

  kill(): void {}
}
