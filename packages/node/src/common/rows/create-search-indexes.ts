import type { CommandRow } from '@shardlab/actor'
import type { CommonInvocation } from '../common-invocation.js'
import { searchNotEnabled } from '../search-not-enabled.js'

export const createSearchIndexes: CommandRow<CommonInvocation> = {
  name: 'createSearchIndexes',
  routing: 'local',
  access: 'write',
  behaviour: 'searchIndexCommands',
  manual: 'reference/command/createSearchIndexes',
  status: 'full',
  summary: 'Makes search indexes: refused as by a server without Atlas Search.',
  run: () => {
    throw searchNotEnabled()
  },
}
