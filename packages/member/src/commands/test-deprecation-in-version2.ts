import type { CommandRow } from '@shardlab/actor'
import { apiParameters } from '../arguments/api-version.js'
import type { MemberInvocation } from '../member-host.js'

export const testDeprecationInVersion2: CommandRow<MemberInvocation> = {
  name: 'testDeprecationInVersion2',
  behaviour: 'stableApi',
  routing: 'local',
  access: 'none',
  privileges: 'user',
  apiVersion1: true,
  manual: 'reference/stable-api',
  status: 'full',
  summary:
    'Returns the Stable API parameters that it was sent; stands for a command that version 2 of the Stable API deprecates.',
  run: ({ args }) => apiParameters(args),
}
