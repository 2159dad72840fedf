/** Server: service_entry_point_common.cpp, runCommandImpl; checkCanServeReadsFor. */
import type { CommandRow } from '@shardlab/actor'
import { CommandError, findField } from '@shardlab/bson'
import type { NodeHost } from '../host/node-host.js'

/** Commands that a secondary runs although their access says primary. */
const anywhere: ReadonlySet<string> = new Set(['getMore', 'killCursors'])

/**
 * @throws CommandError 10107 NotWritablePrimary, 13435 NotPrimaryNoSecondaryOk, 13436
 *   NotPrimaryOrSecondary: a member in this state does not run the command
 */
export function checkMayRun({ set, behaviours }: NodeHost, row: CommandRow<never>, body: Uint8Array): void {
  if (set.isWritablePrimary || row.access === 'none' || row.routing === 'local') return
  if (!anywhere.has(row.name)) checkRunsOnSecondary(row, body, behaviours)
  const { memberState } = set
  if (memberState === 'PRIMARY' || memberState === 'SECONDARY') return
  throw new CommandError('NotPrimaryOrSecondary', 'node is not in primary or recovering state')
}

function checkRunsOnSecondary(
  row: CommandRow<never>,
  body: Uint8Array,
  { notPrimaryWording }: NodeHost['behaviours'],
): void {
  if (row.access !== 'read')
    throw new CommandError('NotWritablePrimary', notPrimaryWording === 'primary' ? 'not primary' : 'not master')
  if (mayReadFromSecondaries(body)) return
  const message = notPrimaryWording === 'primary' ? 'not primary and secondaryOk=false' : 'not master and slaveOk=false'
  throw new CommandError('NotPrimaryNoSecondaryOk', message)
}

function mayReadFromSecondaries(body: Uint8Array): boolean {
  const preference = findField(body, '$readPreference')
  const mode = preference === undefined ? undefined : findField(body, 'mode', preference.start)
  return mode !== undefined && mode.asString() !== 'primary'
}
