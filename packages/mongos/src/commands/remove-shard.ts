import { configAddress, type CommandRow, type ReplyOf } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, typeName } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'
import { onCluster } from '@shardlab/member'

/** Server: cluster_remove_shard_cmd.cpp, configsvr_remove_shard_command.cpp. */
export const removeShard: CommandRow<MongosInvocation> = {
  name: 'removeShard',
  aliases: ['removeshard'],
  routing: 'config-server',
  access: 'admin',
  privileges: onCluster('removeShard'),
  adminOnly: true,
  manual: 'reference/command/removeShard',
  status: 'full',
  summary: 'Starts draining a shard, reports what is left on it, and removes it from the cluster once it is empty.',
  async run({ args, host, operation }) {
    const { target } = args
    if (target.type !== BsonType.string)
      throw new CommandError(
        'TypeMismatch',
        `BSON field '${args.command}.${args.command}' is the wrong type '${typeName(target.type)}', expected type 'string'`,
      )
    const reply = await host.remote.request(
      configAddress,
      'config.remove-shard',
      { shard: target.asString() },
      operation,
    )
    raise(reply.error)
    await host.shards.refresh(operation)
    return writeState(new DocumentWriter(512), reply, host.behaviours)
  },
}

function writeState(
  writer: DocumentWriter,
  reply: ReplyOf<'config.remove-shard'>,
  behaviours: Behaviours,
): DocumentWriter {
  const { state, shard, chunks, databases, jumboChunks, collectionsToMove } = reply
  switch (state) {
    case 'started':
      writer.string('msg', 'draining started successfully').string('state', state).string('shard', shard)
      return writeDatabases(writer, reply, behaviours)
    case 'ongoing':
      writer.string('msg', 'draining ongoing').string('state', state)
      writer.startDocument('remaining').int64('chunks', chunks)
      if (behaviours.moveCollectionCommand) writer.int64('collectionsToMove', collectionsToMove.length)
      writer.int64('dbs', databases)
      if (behaviours.removeShardCountsJumboChunks) writer.int64('jumboChunks', jumboChunks)
      return writeDatabases(writer.end(), reply, behaviours)
    default:
      return writer.string('msg', 'removeshard completed successfully').string('state', state).string('shard', shard)
  }
}

function writeDatabases(
  writer: DocumentWriter,
  { databasesToMove, collectionsToMove }: ReplyOf<'config.remove-shard'>,
  { removeShardNotes }: Behaviours,
): DocumentWriter {
  const remain = databasesToMove.length > 0 || collectionsToMove.length > 0
  if (removeShardNotes === 'when-databases-remain' && !remain) return writer
  if (removeShardNotes !== 'moveCollection') writer.string('note', 'you need to drop or movePrimary these databases')
  else if (remain)
    writer.string(
      'note',
      'you need to call moveCollection for collectionsToMove and afterwards movePrimary for the dbsToMove',
    )
  writeNames(writer, 'dbsToMove', databasesToMove)
  return removeShardNotes === 'moveCollection' ? writeNames(writer, 'collectionsToMove', collectionsToMove) : writer
}

function writeNames(writer: DocumentWriter, field: string, names: readonly string[]): DocumentWriter {
  writer.startArray(field)
  names.forEach((name, i) => writer.string(String(i), name))
  return writer.end()
}
