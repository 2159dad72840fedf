import { CommandTable } from '@shardlab/actor'
import { nodeRows } from './node-rows.js'
import type { NodeInvocation, NodeRole } from '../host/node-host.js'

const tables = new WeakMap<NodeRole['rows'], CommandTable<NodeInvocation>>()

/** The commands of a node with a role of these rows. Made once for all of them: a process may hold a hundred, and each command is looked up there. */
export function tableOf(rows: NodeRole['rows']): CommandTable<NodeInvocation> {
  let table = tables.get(rows)
  if (table === undefined) {
    table = new CommandTable<NodeInvocation>([...nodeRows, ...rows])
    tables.set(rows, table)
  }
  return table
}
