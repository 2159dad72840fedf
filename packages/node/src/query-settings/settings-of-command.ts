import type { CommandRow } from '@shardlab/actor'
import { lookUpQuerySettings, passedQuerySettings, type QuerySettingsTable } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

const commandsWithSettings: ReadonlySet<string> = new Set(['aggregate', 'distinct', 'explain', 'find'])

/**
 * A router has looked its settings up. Server: QuerySettingsShardService.
 * @throws CommandError 411 QueryRejectedBySettings
 */
export function withSettingsOfCommand(
  invocation: NodeInvocation,
  { name }: CommandRow<NodeInvocation>,
  table: QuerySettingsTable,
): NodeInvocation {
  if (!commandsWithSettings.has(name)) return invocation
  const { body, db, routed } = invocation
  const querySettings = routed === null ? lookUpQuerySettings(table, body, db) : passedQuerySettings(body)
  return querySettings === null ? invocation : { ...invocation, querySettings }
}
