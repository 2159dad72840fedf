import { CommandTable } from '@shardlab/actor'
import { nodeRows } from './node-rows.js'
import type { NodeInvocation, NodeRole } from '../host/node-host.js'

const tables = new WeakMap<NodeRole['rows'], CommandTable<NodeInvocation>>()

/**
 * Made once per process: a process may run a hundred nodes, and every command is looked up here.
 */
export function tableOf(rows: NodeRole['rows']): CommandTable<NodeInvocation> {
  let table = tables.get(rows)
  if (table === undefined) {
    table = new CommandTable<NodeInvocation>([...nodeRows, ...rows])
    tables.set(rows, table)
  }
  return table
}
