/** How the documents of a collection are spread over its chunks. */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { decode, findField, type Document } from '@shardlab/bson'
import type { ChunkSizesOfShard } from '@shardlab/dashboard'
import { replyOf } from '../answer-command.js'
import { OptionError } from '../option-error.js'
import { askShard, configPrimaryOf, namespaceIn, shardsIn, type ReadCluster } from './asked-shards.js'

/** A shard reads all its documents. */
const timeoutMs = 60_000
/** More do not fit into a reply. */
const chunksMax = 100_000

/** Serves `{ shardlab: 'chunkSizes', ns }`. */
export function answerAboutChunkSizes(
  cluster: ReadCluster,
  { body }: RequestOf<'cluster.command'>,
): Promise<ReplyOf<'cluster.command'>> {
  return replyOf(async () => ({ shards: await chunkSizes(cluster, decode(body)) }))
}

/**
 * @param fields `ns`
 * @throws OptionError the field is wrong, the config server is down, or there are too many chunks
 */
export async function chunkSizes({ runtime, topology }: ReadCluster, fields: Document): Promise<ChunkSizesOfShard[]> {
  const ns = namespaceIn(fields, 'chunkSizes', topology)
  const names = await shardsIn(runtime, await configPrimaryOf(runtime))
  const sizes = await Promise.all(
    names.map(async (shard): Promise<ChunkSizesOfShard> => {
      const { answer, error } = await askShard(runtime, shard, async (primary) => {
        const reply = await runtime.request(primary, 'shard.chunk-sizes', { ns }, { timeoutMs })
        if (reply.error !== null) throw new OptionError(findField(reply.error, 'errmsg')!.asString())
        return reply
      })
      const { keys, ends, documents, bytes } = answer ?? { keys: [], ends: [], documents: [], bytes: [] }
      return { shard, keys, ends, documents, bytes, error }
    }),
  )
  const count = sizes.reduce((sum, { keys }) => sum + keys.length, 0)
  if (count > chunksMax)
    throw new OptionError(`${ns} has ${count} chunks with documents; chunkSizes can show at most ${chunksMax}.`)
  return sizes
}
