/** Server: set_cluster_parameter_coordinator.cpp. */
import type { Address, ReplyOf, RequestOf } from '@shardlab/actor'
import { findField, sameBytes, timestampValue } from '@shardlab/bson'
import { parseClusterParameter } from '@shardlab/member'
import { storeClusterParameter, storedClusterParameter, storedClusterParameters, type NodeHost } from '@shardlab/node'
import { withFields } from '../store/document-changes.js'
import type { CatalogHost, ConfigHandlers } from '../host.js'

export const clusterParameterHandlers: ConfigHandlers<'config.set-cluster-parameter'> = {
  'config.set-cluster-parameter': setClusterParameter,
}

async function setClusterParameter(
  catalog: CatalogHost,
  { parameter }: RequestOf<'config.set-cluster-parameter'>,
): Promise<ReplyOf<'config.set-cluster-parameter'>> {
  const { node, behaviours } = catalog
  await inTurn(catalog, () => storeEverywhere(catalog, parseClusterParameter(behaviours, parameter, node.clock.tick())))
  return { error: null }
}

/** Changes are made one after the other: a change of query settings depends on the ones before. */
export function inTurn<T>(catalog: CatalogHost, change: () => Promise<T>): Promise<T> {
  const changed = catalog.parameterChanges.then(change)
  catalog.parameterChanges = changed.then(
    () => {},
    () => {},
  )
  return changed
}

/** The config server stores it last: a router that reads it knows that all shards have it. */
export async function storeEverywhere(catalog: CatalogHost, document: Uint8Array): Promise<void> {
  const { node } = catalog
  const { context } = node
  const stored = storedClusterParameter(node, findField(document, '_id')!.asString())
  if (stored !== undefined && sameBytes(withoutTime(stored), withoutTime(document))) return
  const told = new Set<Address>()
  // A shard may join in the meantime.
  for (let shards = catalog.shardIds(); shards.length > 0; shards = catalog.shardIds().filter((id) => !told.has(id))) {
    await context.all(
      shards.map((shard) => context.request(shard, 'shard.set-cluster-parameters', { documents: [document] })),
    )
    for (const shard of shards) told.add(shard)
  }
  storeClusterParameter(node, document)
  await node.flushToMajority()
}

/**
 * Resolves in the turn in which the new shard has all parameters. Server:
 * _pushClusterParametersToNewShard.
 */
export async function pushClusterParameters(node: NodeHost, shard: Address): Promise<void> {
  for (let told = Buffer.alloc(0); ;) {
    const documents = storedClusterParameters(node)
    const all = Buffer.concat(documents)
    if (all.equals(told)) return
    await node.context.request(shard, 'shard.set-cluster-parameters', { documents })
    told = all
  }
}

const withoutTime = (document: Uint8Array): Uint8Array =>
  withFields(document, { clusterParameterTime: timestampValue(0, 0) })
