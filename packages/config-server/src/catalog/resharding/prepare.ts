/** Server: calculateParticipantShardsAndChunks, resharding_coordinator_service.cpp. */
import type { CancelSignal, ReplyOf } from '@shardlab/actor'
import { CommandError, findField } from '@shardlab/bson'
import { databaseNameOf } from '@shardlab/member'
import { raiseError } from '@shardlab/node'
import { parseChunk } from '@shardlab/sharding'
import type { CatalogHost } from '../host.js'
import { writeTemporaryCollection } from './catalog-changes.js'
import { checkShards, chunksOf, recipientsOf, samplesNeeded, zonesOfKey, type ChunkPlan } from './initial-chunks.js'
import type { ReshardingOperation } from './operation.js'
import { parseReshardingRequest } from './request.js'

const sampleTimeoutMs = 60_000

export interface PreparedOperation {
  /**
   * The caller flushes the node.
   * @throws CommandError 70 ShardNotFound: a recipient left after it was chosen
   */
  write(): ReshardingOperation
}

/**
 * @throws CommandError those of {@link chunksOf}, 61 ShardKeyNotFound for an array in the new key
 * @throws RequestFailedError
 */
export async function prepareOperation(
  catalog: CatalogHost,
  operation: ReshardingOperation,
  signal: CancelSignal,
): Promise<PreparedOperation> {
  const { behaviours, store, node } = catalog
  const { ns, sourceUuid } = operation
  const entry = catalog.collection(ns)
  const database = catalog.database(databaseNameOf(ns))
  if (entry === null || database === null) throw new CommandError('NamespaceNotFound', `collection ${ns} not found`)
  const request = parseReshardingRequest(behaviours, operation.request, false)
  const source = catalog.chunks(entry).map(parseChunk)
  const donors = [...new Set(source.map(({ shard }) => shard))].sort()
  const shards = store.all('config.shards')
  const zones = zonesOfKey(request.shardKey, operation.zones ?? [])
  const wanted = request.shardDistribution?.map(({ shard }) => shard)
  const plan: ChunkPlan = {
    behaviours,
    request,
    numInitialChunks: request.numInitialChunks ?? behaviours.reshardingInitialChunks ?? source.length,
    zones,
    shards,
    recipients: wanted ?? recipientsOf(behaviours, shards, (ids) => node.context.random.shuffled(ids)),
  }
  const size = samplesNeeded(plan)
  const asked = { ns, uuid: sourceUuid, keyPattern: operation.key, size }
  const ask = (shard: string) =>
    node.context.request(shard, 'shard.sample-shard-keys', asked, { timeoutMs: sampleTimeoutMs, signal })
  const samples = size === 0 ? [] : lowest(await node.context.all(donors.map(ask)), size)
  const chunks = chunksOf(plan, samples)
  // The primary shard has the collection even without chunks.
  const primary = findField(database, 'primary')!.asString()
  const recipients = [...new Set([primary, ...chunks.map(([, , shard]) => shard)])].sort()
  return {
    write() {
      checkShards(store.all('config.shards'), recipients)
      const prepared: ReshardingOperation = {
        ...operation,
        state: 'preparing-to-donate',
        donors,
        recipients,
        zones: null,
      }
      writeTemporaryCollection(catalog, prepared, chunks, zones)
      return prepared
    },
  }
}

function lowest(replies: readonly ReplyOf<'shard.sample-shard-keys'>[], size: number): Uint8Array[] {
  const weighted = replies.flatMap(({ keys, weights, error }) => {
    raiseError(error)
    return keys.map((key, i) => ({ key, weight: weights[i]! }))
  })
  return weighted
    .sort((a, b) => a.weight - b.weight)
    .slice(0, size)
    .map(({ key }) => key)
}
