import { configAddress, type CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { namespaceArgument, onNamedNamespace } from '@shardlab/member'
import { chunkOfQuery, chunkWithBounds, type ChunkRefusals } from '../chunks/chosen-chunk.js'
import { withShardedCollection } from '../chunks/sharded-collection.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'

const refusals: ChunkRefusals = { noKey: 51260, badBounds: null, noChunk: 51261 }

/** Server: cluster_clear_jumbo_flag_cmd.cpp. */
export const clearJumboFlag: CommandRow<MongosInvocation> = {
  name: 'clearJumboFlag',
  routing: 'config-server',
  access: 'admin',
  privileges: onNamedNamespace('clearJumboFlag'),
  adminOnly: true,
  manual: 'reference/command/clearJumboFlag',
  status: 'full',
  behaviour: 'clearJumboFlagCommand',
  summary: "Clears a chunk's jumbo flag, so that the balancer considers it again.",
  fields: { find: 'object', bounds: 'array' },
  unknownFields: 'ignored',
  run(invocation) {
    const { args, host, operation } = invocation
    const ns = namespaceArgument(args)
    return withShardedCollection(invocation, ns, async (placement) => {
      const find = args.document('find')
      const bounds = args.documents('bounds')
      if (bounds !== undefined && bounds.length !== 2)
        throw new CommandError('InvalidOptions', 'bounds can only have exactly 2 elements')
      if (find !== undefined && bounds !== undefined)
        throw new CommandError('InvalidOptions', 'cannot specify bounds and find at the same time')
      if (find === undefined && bounds === undefined)
        throw new CommandError('InvalidOptions', 'need to specify find or bounds')
      const { min, max } =
        find === undefined
          ? await chunkWithBounds(invocation, ns, placement, bounds!, refusals)
          : await chunkOfQuery(invocation, ns, placement, find, refusals)
      const [epoch] = placement.table.version
      const { error } = await host.remote.request(
        configAddress,
        'config.clear-jumbo-flag',
        { ns, epoch, min, max },
        operation,
      )
      raise(error)
      return new DocumentWriter(192)
    })
  },
}
