import type { CommandRow } from '@shardlab/actor'
import type { MemberInvocation } from '../member-host.js'
import { searchNotEnabled } from '../replies/search-not-enabled.js'
import { onNamespace } from '../access/needs.js'

export const createSearchIndexes: CommandRow<MemberInvocation> = {
  name: 'createSearchIndexes',
  routing: 'local',
  access: 'write',
  privileges: onNamespace('createSearchIndexes'),
  behaviour: 'searchIndexCommands',
  manual: 'reference/command/createSearchIndexes',
  status: 'full',
  summary: 'Creates search indexes; refused, as by a server without Atlas Search.',
  run: () => {
    throw searchNotEnabled()
  },
}
