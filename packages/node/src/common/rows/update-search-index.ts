import type { CommandRow } from '@shardlab/actor'
import type { CommonInvocation } from '../common-invocation.js'
import { searchNotEnabled } from '../search-not-enabled.js'

export const updateSearchIndex: CommandRow<CommonInvocation> = {
  name: 'updateSearchIndex',
  routing: 'local',
  access: 'write',
  behaviour: 'searchIndexCommands',
  manual: 'reference/command/updateSearchIndex',
  status: 'full',
  summary: 'Changes a search index: refused as by a server without Atlas Search.',
  run: () => {
    throw searchNotEnabled()
  },
}
