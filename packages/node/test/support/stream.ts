import { decode, encode, type Document, type Long } from '@shardlab/bson'
import type { NodeUnderTest } from './harness.js'

/** As a client of the member, without a router. */
export async function run(node: NodeUnderTest, command: Document): Promise<Document> {
  const body = encode({ ...command, $db: (command['$db'] as string | undefined) ?? 'test' })
  return decode(
    (await node.node.clientCommand({ connectionId: 1, body, sequences: [], legacy: false, remote: '' })).body,
  )
}

export async function ok(node: NodeUnderTest, command: Document): Promise<Document> {
  const reply = await run(node, command)
  if (reply['ok'] !== 1) throw new Error(JSON.stringify(reply))
  return reply
}

interface Batch {
  readonly id: Long
  readonly documents: Document[]
  readonly postBatchResumeToken: Document
}

export class Stream {
  readonly node: NodeUnderTest
  readonly collection: string
  id: Long
  token: Document
  readonly first: Document[]

  private constructor(node: NodeUnderTest, collection: string, { id, documents, postBatchResumeToken }: Batch) {
    this.node = node
    this.collection = collection
    this.id = id
    this.token = postBatchResumeToken
    this.first = documents
  }

  static async open(node: NodeUnderTest, collection: string | 1, options: Document = {}, stages: Document[] = []) {
    const pipeline = [{ $changeStream: options }, ...stages]
    const reply = await ok(node, { aggregate: collection, pipeline, cursor: {} })
    const cursor = reply['cursor'] as Document
    const name = collection === 1 ? '$cmd.aggregate' : collection
    return new Stream(node, name, batchOf(cursor, 'firstBatch'))
  }

  async read(): Promise<Document[]> {
    const reply = await ok(this.node, { getMore: this.id, collection: this.collection, maxTimeMS: 1 })
    const { id, documents, postBatchResumeToken } = batchOf(reply['cursor'] as Document, 'nextBatch')
    this.id = id
    this.token = postBatchResumeToken
    return documents
  }
}

function batchOf(cursor: Document, name: string): Batch {
  return {
    id: cursor['id'] as Long,
    documents: cursor[name] as Document[],
    postBatchResumeToken: cursor['postBatchResumeToken'] as Document,
  }
}
