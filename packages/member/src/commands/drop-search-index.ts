import type { CommandRow } from '@shardlab/actor'
import type { MemberInvocation } from '../member-host.js'
import { searchNotEnabled } from '../replies/search-not-enabled.js'
import { onNamespace } from '../access/needs.js'

export const dropSearchIndex: CommandRow<MemberInvocation> = {
  name: 'dropSearchIndex',
  routing: 'local',
  access: 'write',
  privileges: onNamespace('dropSearchIndex'),
  behaviour: 'searchIndexCommands',
  manual: 'reference/command/dropSearchIndex',
  status: 'full',
  summary: 'Drops a search index; refused, as by a server without Atlas Search.',
  run: () => {
    throw searchNotEnabled()
  },
}
