/** Server: query_settings_service.cpp; the router passes the settings to the shards. */
import type { CommandRow } from '@shardlab/actor'
import { lookUpQuerySettings, withQuerySettings, type QuerySettingsTable } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'

const commandsWithSettings: ReadonlySet<string> = new Set(['aggregate', 'distinct', 'explain', 'find'])

/**
 * Before views are resolved: settings belong to the query as the client sends it.
 * @throws CommandError 411 QueryRejectedBySettings
 */
export function withSettingsOfCommand(
  invocation: MongosInvocation,
  { name }: CommandRow<MongosInvocation>,
  table: QuerySettingsTable,
): MongosInvocation {
  if (!commandsWithSettings.has(name)) return invocation
  const querySettings = lookUpQuerySettings(table, invocation.body, invocation.db)
  return querySettings === null ? invocation : { ...invocation, querySettings }
}

/** Of a command to a member. */
export function bodyWithSettings({ querySettings }: MongosInvocation, body: Uint8Array): Uint8Array {
  return querySettings === undefined ? body : withQuerySettings(body, querySettings)
}
