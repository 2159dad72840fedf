import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter, isEmptyDocument } from '@shardlab/bson'
import { badBoundsText, normalisedBounds } from '../chunks/chosen-chunk.js'
import { optionalDocuments, refusal } from '../chunks/legacy-arguments.js'
import { chunkAt, qualifiedNamespace, withShardedCollection } from '../chunks/sharded-collection.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'
import { onNamedNamespace } from '@shardlab/member'

/** Server: cluster_merge_chunks_cmd.cpp. */
export const mergeChunks: CommandRow<MongosInvocation> = {
  name: 'mergeChunks',
  routing: 'config-server',
  access: 'admin',
  privileges: onNamedNamespace('splitChunk'),
  adminOnly: true,
  manual: 'reference/command/mergeChunks',
  status: 'partial',
  deviations: ['D820'],
  summary: 'Merges adjacent chunks of a shard.',
  run(invocation) {
    const { args, host, operation } = invocation
    const ns = qualifiedNamespace(args)
    const given = optionalDocuments(args, 'bounds')
    if (given.length === 0) throw refusal('no bounds were specified')
    if (given.length !== 2) throw refusal('only a min and max bound may be specified')
    const [low, high] = given as [Uint8Array, Uint8Array]
    if (isEmptyDocument(low)) throw refusal('no min key specified')
    if (isEmptyDocument(high)) throw refusal('no max key specified')
    return withShardedCollection(invocation, ns, async (placement) => {
      const { shardKey, table } = placement
      const bounds = normalisedBounds(shardKey, low, high)
      if (bounds === null) throw refusal(badBoundsText(shardKey, low, high))
      const [min, max] = bounds
      const { shard } = await chunkAt(invocation, ns, placement, min)
      const [epoch, seconds, increment] = table.version
      const request = { ns, generation: [epoch, seconds, increment] as const, min, max }
      const { error } = await host.remote.request(shard, 'shard.merge-chunks', request, operation)
      host.catalog.markCollectionStale(ns, placement)
      raise(error)
      return new DocumentWriter(192)
    })
  },
}
