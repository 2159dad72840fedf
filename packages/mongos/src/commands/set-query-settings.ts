import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { setQuerySettingsSpec } from '@shardlab/member'
import { changeSettings } from '../admin/change-query-settings.js'
import type { MongosInvocation } from '../host/mongos-host.js'

export const setQuerySettings: CommandRow<MongosInvocation> = {
  ...setQuerySettingsSpec,
  routing: 'config-server',
  status: 'partial',
  deviations: ['D601', 'D612'],
  summary:
    'Sets allowed indexes (`indexHints`) for the queries of a shape, or rejects them (`reject`), on the whole cluster.',
  async run(invocation) {
    const configuration = await changeSettings(invocation)
    return new DocumentWriter(512).fields(configuration!)
  },
}
