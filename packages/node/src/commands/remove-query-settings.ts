import type { CommandRow } from '@shardlab/actor'
import { removeQuerySettingsSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'
import { changeQuerySettings } from '../query-settings/change-settings.js'
import { onlyOnRouters } from './set-query-settings.js'

export const removeQuerySettings: CommandRow<NodeInvocation> = {
  ...removeQuerySettingsSpec,
  routing: 'local',
  status: 'full',
  summary: 'Refused with 238 NotImplemented: settings of queries are removed on a router.',
  run({ host, body }) {
    changeQuerySettings(host, host.querySettings, body)
    throw onlyOnRouters()
  },
}
