import { configAddress, type CommandArguments, type CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, typeName, type RawValue } from '@shardlab/bson'
import { namespaceArgument, onNamedNamespace } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'

/** Server: cluster_merge_all_chunks_on_shard_cmd.cpp. */
export const mergeAllChunksOnShard: CommandRow<MongosInvocation> = {
  name: 'mergeAllChunksOnShard',
  routing: 'config-server',
  access: 'admin',
  privileges: onNamedNamespace('splitChunk'),
  adminOnly: true,
  manual: 'reference/command/mergeAllChunksOnShard',
  status: 'full',
  behaviour: 'mergeAllChunksOnShardCommand',
  summary: 'Merges all adjacent chunks of a shard that no migration or snapshot read needs as they are.',
  async run(invocation) {
    const { args, host, operation } = invocation
    const ns = namespaceArgument(args)
    const shard = argument(args, 'shard', BsonType.string)?.asString()
    if (shard === undefined)
      throw new CommandError(40414, "BSON field 'mergeAllChunksOnShard.shard' is missing but a required field")
    const chunksMax = argument(args, 'maxNumberOfChunksToMerge', BsonType.int32)?.asNumber() ?? null
    // Checked and ignored: the search for mergeable chunks takes no time here.
    argument(args, 'maxTimeProcessingChunksMS', BsonType.int32)
    if (!(await host.shards.ids(operation)).includes(shard)) {
      await host.shards.refresh(operation)
      if (!(await host.shards.ids(operation)).includes(shard))
        throw new CommandError('ShardNotFound', `Shard ${shard} not found`)
    }
    const { error } = await host.remote.request(
      configAddress,
      'config.commit-merge-all-chunks',
      { ns, shard, chunksMax },
      operation,
    )
    raise(error)
    raise((await host.remote.request(shard, 'shard.refresh-collection', { ns }, operation)).error)
    host.catalog.markCollectionStale(ns, host.catalog.peekCollection(ns))
    return new DocumentWriter(192)
  },
}

/**
 * This command's parser accepts unknown arguments, but checks types.
 * @throws CommandError 14 TypeMismatch
 */
function argument(args: CommandArguments, name: string, type: number): RawValue | undefined {
  const value = args.value(name)
  if (value === undefined || value.isNullish()) return undefined
  if (value.type !== type)
    throw new CommandError(
      'TypeMismatch',
      `BSON field '${args.command}.${name}' is the wrong type '${typeName(value.type)}', expected type '${typeName(type)}'`,
    )
  return value
}
