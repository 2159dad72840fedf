import type { CommandArguments, CommandRow } from '@shardlab/actor'
import { withDefaultConcerns, type Concerns } from '@shardlab/member'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'
import { storedConcernDefaults } from '../replication/concerns/stored-defaults.js'

/**
 * Shards and config servers get the defaults from routers. Server: extractWriteConcern.
 * @returns the command with the defaults of the set; null: it needs none
 */
export function withDefaultsOfSet(
  node: NodeHost,
  row: CommandRow<NodeInvocation>,
  body: Uint8Array,
  args: CommandArguments,
  concerns: Concerns,
): Uint8Array | null {
  if (node.role.name !== 'mongod' || !node.behaviours.defaultConcernCommands) return null
  const defaults = storedConcernDefaults(node)
  return defaults === null ? null : withDefaultConcerns(row, body, args, concerns, defaults)
}
