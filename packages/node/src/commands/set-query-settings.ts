import type { CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { setQuerySettingsSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'
import { changeQuerySettings } from '../query-settings/change-settings.js'

/** Server: query_settings_cmds.cpp, whose last step is setClusterParameter. */
export const setQuerySettings: CommandRow<NodeInvocation> = {
  ...setQuerySettingsSpec,
  routing: 'local',
  status: 'full',
  summary: 'Refused with 238 NotImplemented: settings of queries are set on a router.',
  run({ host, body }) {
    changeQuerySettings(host, host.querySettings, body)
    throw onlyOnRouters()
  },
}

export function onlyOnRouters(): CommandError {
  return new CommandError('NotImplemented', 'setClusterParameter can only run on mongos in sharded clusters')
}
