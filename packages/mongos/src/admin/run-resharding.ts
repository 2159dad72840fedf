/** Server: cluster_ddl.cpp, cluster_abort_reshard_collection_cmd.cpp. */
import { configAddress, type ReshardingProvenance } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { collectionUuidOf } from '@shardlab/member'
import { ShardKeyPattern } from '@shardlab/sharding'
import { raise } from '../remote/command-reply.js'
import { withDatabase } from '../routing/primary.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { reshardedNamespace } from './resharding-arguments.js'

/** Placeholder for the shard key of an unsharded collection. */
const unsplittableKey = new DocumentWriter(16).int32('_id', 1).finish()

/**
 * @param request sent to the primary shard and the config server; equal requests join one operation
 */
export async function runResharding(
  invocation: MongosInvocation,
  { db, ns }: { readonly db: string; readonly ns: string },
  request: Uint8Array,
): Promise<DocumentWriter> {
  const { args, host, operation } = invocation
  const collectionUuid = collectionUuidOf(args)
  return withDatabase(invocation, db, false, async (database) => {
    if (database === null) throw new CommandError('NamespaceNotFound', `database ${db} not found`)
    const { error } = await host.remote.request(
      database.primaryShard,
      'shard.reshard-collection',
      { ns, request, collectionUuid, databaseVersion: database.version },
      operation,
    )
    raise(error)
    host.catalog.forgetCollection(ns)
    return new DocumentWriter(192)
  })
}

/** @param toShard undefined: the primary shard chooses */
export function gatherOnShard(
  invocation: MongosInvocation,
  provenance: 'moveCollection' | 'unshardCollection',
  toShard: string | undefined,
): Promise<DocumentWriter> {
  const { db, ns } = reshardedNamespace(invocation.args)
  const { globalMin, globalMax } = ShardKeyPattern.parse(unsplittableKey, { compoundHashed: true })
  const request = new DocumentWriter(256)
    .string('reshardCollection', ns)
    .document('key', unsplittableKey)
    .bool('forceRedistribution', true)
  request.string('provenance', provenance)
  if (toShard !== undefined) {
    const range = new DocumentWriter(96).string('shard', toShard).document('min', globalMin).document('max', globalMax)
    request.documents('shardDistribution', [range.finish()])
  }
  return runResharding(invocation, { db, ns }, request.finish())
}

/** @throws CommandError 20 IllegalOperation when another command runs the operation */
export async function abortResharding(
  invocation: MongosInvocation,
  provenance: ReshardingProvenance,
): Promise<DocumentWriter> {
  const { args, host, operation } = invocation
  const { ns } = reshardedNamespace(args)
  raise((await host.remote.request(configAddress, 'config.abort-resharding', { ns, provenance }, operation)).error)
  return new DocumentWriter(192)
}
