import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { collectionUuidOf } from '@shardlab/node'
import type { MongosInvocation } from '../command/invocation.js'
import { reshardedNamespace } from '../command/resharding-arguments.js'
import { raise } from '../remote/command-reply.js'
import { withDatabase } from '../routing/primary.js'

const fields = {
  key: 'object!',
  unique: 'bool',
  numInitialChunks: 'number',
  collation: 'object',
  zones: 'array',
  _presetReshardedChunks: 'array',
  forceRedistribution: 'bool',
  shardDistribution: 'array',
} as const

/** Server: cluster_reshard_collection_cmd.cpp. */
export const reshardCollection: CommandRow<MongosInvocation> = {
  name: 'reshardCollection',
  routing: 'primary-shard',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/reshardCollection',
  status: 'full',
  summary: 'Gives a sharded collection another shard key, and every document its place under it.',
  behaviour: 'reshardCollectionCommand',
  fields: { ...fields, collectionUUID: 'binary' },
  ignoresUnknownFields: true,
  run(invocation) {
    const { args, host, operation } = invocation
    const { db, ns } = reshardedNamespace(args)
    // What is compared with other requests, so nothing that is another in each attempt.
    const request = new DocumentWriter(512).string('reshardCollection', ns)
    for (const name of Object.keys(fields)) {
      const value = args.value(name)
      if (value !== undefined) request.value(name, value)
    }
    const body = request.finish()
    const collectionUuid = collectionUuidOf(args, host.behaviours)
    return withDatabase(invocation, db, false, async (database) => {
      if (database === null) throw new CommandError('NamespaceNotFound', `database ${db} not found`)
      const { error } = await host.remote.request(
        database.primaryShard,
        'shard.reshard-collection',
        { ns, request: body, collectionUuid, databaseVersion: database.version },
        operation,
      )
      raise(error)
      host.catalog.forgetCollection(ns)
      return new DocumentWriter(192)
    })
  },
}
