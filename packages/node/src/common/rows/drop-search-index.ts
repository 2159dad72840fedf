import type { CommandRow } from '@shardlab/actor'
import type { CommonInvocation } from '../common-invocation.js'
import { searchNotEnabled } from '../search-not-enabled.js'

export const dropSearchIndex: CommandRow<CommonInvocation> = {
  name: 'dropSearchIndex',
  routing: 'local',
  access: 'write',
  behaviour: 'searchIndexCommands',
  manual: 'reference/command/dropSearchIndex',
  status: 'full',
  summary: 'Drops a search index: refused as by a server without Atlas Search.',
  run: () => {
    throw searchNotEnabled()
  },
}
