import { configAddress, type CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, typeName, type RawValue } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'
import { configureBalancingPrivileges } from '@shardlab/member'

/** Server: cluster_configure_collection_balancing.cpp, configure_collection_balancing.idl. */
export const configureCollectionBalancing: CommandRow<MongosInvocation> = {
  name: 'configureCollectionBalancing',
  routing: 'config-server',
  access: 'admin',
  privileges: configureBalancingPrivileges,
  adminOnly: true,
  behaviour: 'collectionBalancingCanBeConfigured',
  manual: 'reference/command/configureCollectionBalancing',
  status: 'partial',
  deviations: ['D893'],
  summary: 'Sets the chunk size, defragmentation and automatic merging of one collection.',
  async run({ args, host, operation }) {
    const ns = args.targetString()
    const chunkSize = args.value('chunkSize')
    const defragment = boolOf('defragmentCollection', args.value('defragmentCollection'))
    const merge = boolOf('enableAutoMerger', args.value('enableAutoMerger'))
    if (chunkSize !== undefined && !chunkSize.isNumber())
      throw wrongType('chunkSize', chunkSize, "'[long, int, decimal, double]'")
    const { error } = await host.remote.request(
      configAddress,
      'config.configure-collection-balancing',
      {
        ns,
        chunkSizeMb: chunkSize === undefined ? null : toInt32(chunkSize.asNumber()),
        defragmentCollection: defragment,
        enableAutoMerger: host.behaviours.autoMergerCanBeSwitched ? merge : null,
      },
      operation,
    )
    raise(error)
    return new DocumentWriter(192)
  },
}

/** The server reads numbers of any type: truncated, and clamped to 32 bits. */
function toInt32(value: number): number {
  return Math.trunc(Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, value))) || 0
}

function boolOf(name: string, value: RawValue | undefined): boolean | null {
  if (value === undefined) return null
  if (value.type === BsonType.bool) return value.isTruthy()
  throw wrongType(name, value, "'bool'")
}

function wrongType(name: string, value: RawValue, wanted: string): CommandError {
  const types = wanted.includes('[') ? 'types' : 'type'
  return new CommandError(
    'TypeMismatch',
    `BSON field 'configureCollectionBalancing.${name}' is the wrong type '${typeName(value.type)}', expected ${types} ${wanted}`,
  )
}
