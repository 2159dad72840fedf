import type { CommandRow } from '@shardlab/actor'
import { apiParameters } from '../arguments/api-version.js'
import type { MemberInvocation } from '../member-host.js'

export const testVersions1And2: CommandRow<MemberInvocation> = {
  name: 'testVersions1And2',
  behaviour: 'stableApi',
  routing: 'local',
  access: 'none',
  privileges: 'user',
  apiVersion1: true,
  manual: 'reference/stable-api',
  status: 'full',
  summary:
    'Returns the Stable API parameters that it was sent; stands for a command that versions 1 and 2 of the Stable API have.',
  run: ({ args }) => apiParameters(args),
}
