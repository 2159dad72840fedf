/**
 * Manual: reference/operator/aggregation/shardedDataDistribution; server:
 * document_source_sharded_data_distribution.cpp.
 */
import type { CollectionCountsTuple } from '@shardlab/actor'
import { CommandError, DocumentWriter, emptyDocument, findField } from '@shardlab/bson'
import { listSource } from '@shardlab/member'
import type { Behaviours } from '@shardlab/sharding'
import type { MongosInvocation } from '../host/mongos-host.js'
import { configDocuments } from '../remote/config-documents.js'
import type { MongosStageSource } from './source.js'

/** One document for each sharded collection, by name, with every shard that has a copy, by id. */
export const shardedDataDistributionSource: MongosStageSource = {
  name: '$shardedDataDistribution',
  place: () => 'router',
  async open({ invocation, ns }) {
    if (ns !== 'admin.$cmd.aggregate')
      throw new CommandError(6789102, 'The $shardedDataDistribution stage must be run on the admin database')
    const namespaces = await shardedNamespaces(invocation)
    const { host, operation } = invocation
    const shards = await host.shards.ids(operation)
    const answers = await host.context.all(
      shards.map((shard) => host.remote.request(shard, 'shard.collection-counts', { namespaces }, operation)),
    )
    const byNamespace = new Map<string, Uint8Array[]>()
    shards.forEach((shard, i) => {
      for (const counts of answers[i]!.collections)
        byNamespace.set(counts[0], [...(byNamespace.get(counts[0]) ?? []), shareOf(host.behaviours, shard, counts)])
    })
    return listSource(
      [...byNamespace].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, parts]) => distribution(name, parts)),
    )
  },
}

async function shardedNamespaces(invocation: MongosInvocation): Promise<string[]> {
  const filter = new DocumentWriter(64).startDocument('unsplittable').bool('$ne', true).end().finish()
  const collections = await configDocuments(invocation, 'collections', filter, emptyDocument)
  return collections.map((collection) => findField(collection, '_id')!.asString())
}

/**
 * Sizes are products with the average document size, which is undefined for an empty collection.
 */
function shareOf(
  { emptySizesAreNull }: Behaviours,
  shard: string,
  [, count, orphanCount, average]: CollectionCountsTuple,
): Uint8Array {
  const averageBytes = average ?? (emptySizesAreNull ? null : 0)
  const owned = count - orphanCount
  const writer = new DocumentWriter(160).string('shardName', shard)
  writer.integer('numOrphanedDocs', orphanCount)
  writer.integer('numOwnedDocuments', owned)
  for (const [name, documents] of [['ownedSizeBytes', owned] as const, ['orphanedSizeBytes', orphanCount] as const]) {
    if (averageBytes === null) writer.null(name)
    else writer.integer(name, averageBytes * documents)
  }
  return writer.finish()
}

function distribution(ns: string, shards: readonly Uint8Array[]): Uint8Array {
  return new DocumentWriter(512).string('ns', ns).documents('shards', shards).finish()
}
