import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { CommonHost } from '../common/common-invocation.js'
import type { NodeInvocation } from '../invocation.js'

export const getDefaultRWConcernFields = { inMemory: 'bool' } as const

/** The concerns that hold where nobody set any. Server: rwc_defaults_commands, read_write_concern_defaults.cpp. */
export function writeDefaultConcerns({ behaviours, context }: CommonHost, inMemory: boolean): DocumentWriter {
  const writer = new DocumentWriter(512)
  if (behaviours.implicitDefaultConcerns) {
    writer.startDocument('defaultReadConcern').string('level', 'local').end()
    writer.startDocument('defaultWriteConcern').string('w', 'majority').int32('wtimeout', 0).end()
    writer.string('defaultWriteConcernSource', 'implicit').string('defaultReadConcernSource', 'implicit')
  }
  writer.date('localUpdateWallClockTime', context.now())
  return inMemory ? writer.bool('inMemory', true) : writer
}

export const getDefaultRWConcern: CommandRow<NodeInvocation> = {
  name: 'getDefaultRWConcern',
  routing: 'config-server',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/getDefaultRWConcern',
  status: 'full',
  summary: 'Tells which read and write concern hold where a command names none.',
  fields: getDefaultRWConcernFields,
  run({ args, host }) {
    if (host.role.name === 'shard') throw new CommandError(51301, "'getDefaultRWConcern' is not supported on shard nodes.")
    return writeDefaultConcerns(host, args.bool('inMemory') ?? false)
  },
}
