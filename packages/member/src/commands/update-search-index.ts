import type { CommandRow } from '@shardlab/actor'
import type { MemberInvocation } from '../member-host.js'
import { searchNotEnabled } from '../replies/search-not-enabled.js'
import { onNamespace } from '../access/needs.js'

export const updateSearchIndex: CommandRow<MemberInvocation> = {
  name: 'updateSearchIndex',
  routing: 'local',
  access: 'write',
  privileges: onNamespace('updateSearchIndex'),
  behaviour: 'searchIndexCommands',
  manual: 'reference/command/updateSearchIndex',
  status: 'full',
  summary: 'Changes a search index; refused, as by a server without Atlas Search.',
  run: () => {
    throw searchNotEnabled()
  },
}
