import { CommandTable } from '@shardlab/actor'
import { rowIn } from '@shardlab/member'
import type { Language } from '@shardlab/query'
import { nodeRows } from './node-rows.js'
import { setRows } from './set-rows.js'
import type { NodeInvocation, NodeRole } from '../host/node-host.js'

const alone = new WeakMap<NodeRole['rows'], CommandTable<NodeInvocation>>()
const inSets = new WeakMap<NodeRole['rows'], CommandTable<NodeInvocation>>()

/**
 * Made once per process: a process may run a hundred nodes, and every command is looked up here.
 * @param hasSetCommands not a set's only member
 */
export function tableOf(
  rows: NodeRole['rows'],
  language: Language,
  hasSetCommands: boolean,
): CommandTable<NodeInvocation> {
  const tables = hasSetCommands ? inSets : alone
  let table = tables.get(rows)
  if (table === undefined) {
    table = new CommandTable<NodeInvocation>([...nodeRows, ...(hasSetCommands ? setRows : []), ...rows])
    tables.set(rows, table)
  }
  return table.adapted(language, (row) => rowIn(language, row))
}
