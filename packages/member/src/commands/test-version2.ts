import type { CommandRow } from '@shardlab/actor'
import { apiParameters } from '../arguments/api-version.js'
import type { MemberInvocation } from '../member-host.js'

export const testVersion2: CommandRow<MemberInvocation> = {
  name: 'testVersion2',
  behaviour: 'stableApi',
  routing: 'local',
  access: 'none',
  privileges: 'user',
  manual: 'reference/stable-api',
  status: 'full',
  summary:
    'Returns the Stable API parameters that it was sent; stands for a command that only version 2 of the Stable API has.',
  run: ({ args }) => apiParameters(args),
}
