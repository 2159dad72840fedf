import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { removeQuerySettingsSpec } from '@shardlab/member'
import { changeSettings } from '../admin/change-query-settings.js'
import type { MongosInvocation } from '../host/mongos-host.js'

export const removeQuerySettings: CommandRow<MongosInvocation> = {
  ...removeQuerySettingsSpec,
  routing: 'config-server',
  status: 'full',
  summary: 'Removes the settings of the queries of a shape, if there are any.',
  async run(invocation) {
    await changeSettings(invocation)
    return new DocumentWriter(128)
  },
}
