import type { CommandRow } from '@shardlab/actor'
import { getDefaultRWConcernFields, writeDefaultConcerns } from '@shardlab/node'
import type { MongosInvocation } from '../command/invocation.js'

export const getDefaultRWConcern: CommandRow<MongosInvocation> = {
  name: 'getDefaultRWConcern',
  routing: 'local',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/getDefaultRWConcern',
  status: 'full',
  summary: 'Tells which read and write concern hold where a command names none.',
  fields: getDefaultRWConcernFields,
  run: ({ args, host }) => writeDefaultConcerns(host, args.bool('inMemory') ?? false),
}
