import type { CommandRow } from '@shardlab/actor'
import { apiParameters } from '../arguments/api-version.js'
import type { MemberInvocation } from '../member-host.js'

export const testDeprecation: CommandRow<MemberInvocation> = {
  name: 'testDeprecation',
  behaviour: 'stableApi',
  routing: 'local',
  access: 'none',
  privileges: 'user',
  apiVersion1: true,
  apiDeprecated: true,
  manual: 'reference/stable-api',
  status: 'full',
  summary:
    'Returns the Stable API parameters that it was sent; stands for a command that version 1 of the Stable API deprecates.',
  run: ({ args }) => apiParameters(args),
}
