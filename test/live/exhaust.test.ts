/** Server: jstests/core/query/exhaust.js. A raw client counts the replies to one getMore. */
import { connect } from 'node:net'
import { decode, encode, Long, type Document } from '@shardlab/bson'
import { decodeReply, encodeCommand, FrameReader, MsgFlag, type DecodedReply } from '@shardlab/wire'
import { ShardedCluster } from 'shardlab'
import t, { type Test } from 'tap'
import { RawClient } from '../support/raw-client.js'

const documents = 10
const batchSize = 2

/** The replies to one getMore with exhaustAllowed, until one without moreToCome. */
async function repliesToGetMore(endpoint: string, id: Long): Promise<DecodedReply[]> {
  const [host, port] = endpoint.split(':') as [string, string]
  const socket = connect({ host, port: Number(port) })
  const reader = new FrameReader()
  const replies: DecodedReply[] = []
  socket.write(
    encodeCommand(77, encode({ getMore: id, collection: 'c', batchSize, $db: 'exhaust' }), {
      flags: MsgFlag.exhaustAllowed,
    }),
  )
  for await (const chunk of socket) {
    reader.push(chunk as Buffer)
    for (let frame = reader.next(); frame !== null; frame = reader.next()) {
      // The frame's memory is reused.
      const reply = decodeReply(new Uint8Array(frame))
      replies.push(reply)
      if ((reply.flags & MsgFlag.moreToCome) === 0) return replies
    }
  }
  throw new Error('the connection ended within a stream')
}

const batchOf = ({ body }: DecodedReply): Document => decode(body)['cursor'] as Document

async function check(t: Test, endpoint: string, streams: boolean): Promise<void> {
  const client = await RawClient.connect(endpoint)
  const { cursor } = await client.command({ find: 'c', batchSize, sort: { _id: 1 }, $db: 'exhaust' })
  client.close()
  const replies = await repliesToGetMore(endpoint, Long.fromValue(cursor.id))
  if (!streams) {
    t.equal(replies.length, 1)
    t.equal(batchOf(replies[0]!)['nextBatch'].length, batchSize)
    return
  }
  t.same(
    replies.flatMap((reply) => batchOf(reply)['nextBatch'].map(({ _id }: { _id: number }) => _id)),
    Array.from({ length: documents - batchSize }, (_, i) => i + batchSize),
  )
  t.same(
    replies.map(({ responseTo }) => responseTo),
    [77, ...replies.slice(0, -1).map(({ requestId }) => requestId)],
    'each reply responds to the one before',
  )
  t.equal(Number(batchOf(replies.at(-1)!)['id']), 0)
}

for (const [emulate, router, node] of [
  ['4.0', false, false],
  ['7.0', false, true],
  ['8.0', true, true],
] as const) {
  t.test(
    `a getMore with exhaustAllowed in ${emulate} is answered by all batches where the server streams`,
    async (t) => {
      await using cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline', emulate })
      const client = await RawClient.connect(cluster.mongos[0]!)
      await client.command({
        insert: 'c',
        documents: Array.from({ length: documents }, (_, _id) => ({ _id })),
        $db: 'exhaust',
      })
      client.close()
      await check(t, cluster.mongos[0]!, router)
      await check(t, new URL(cluster.shards[0]!.uri.replace('mongodb:', 'http:')).host, node)
    },
  )
}
