import { CommandTable } from '@shardlab/actor'
import { rowIn } from '@shardlab/member'
import type { Language } from '@shardlab/query'
import { nodeRows } from './node-rows.js'
import type { NodeInvocation, NodeRole } from '../host/node-host.js'

const tables = new WeakMap<NodeRole['rows'], CommandTable<NodeInvocation>>()

/**
 * Made once per process: a process may run a hundred nodes, and every command is looked up here.
 */
export function tableOf(rows: NodeRole['rows'], language: Language): CommandTable<NodeInvocation> {
  let table = tables.get(rows)
  if (table === undefined) {
    table = new CommandTable<NodeInvocation>([...nodeRows, ...rows])
    tables.set(rows, table)
  }
  return table.adapted(language, (row) => rowIn(language, row))
}
