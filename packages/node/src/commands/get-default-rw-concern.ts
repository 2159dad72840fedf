import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { writeConcernDefaults, getDefaultRWConcernSpec } from '@shardlab/member'
import { storedConcernDefaults } from '../replication/concerns/stored-defaults.js'
import { setHostsOf } from '../replication/set-hosts.js'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'

export const getDefaultRWConcern: CommandRow<NodeInvocation> = {
  ...getDefaultRWConcernSpec,
  routing: 'config-server',
  status: 'full',
  summary: 'Returns the default read and write concern.',
  run({ args, host }) {
    refuseOutsideSets(host, 'getDefaultRWConcern')
    return writeStoredDefaults(host, args.bool('inMemory') ?? false)
  },
}

export function refuseOutsideSets({ role, isStandalone }: NodeHost, command: string): void {
  if (isStandalone) throw new CommandError(51300, `'${command}' is not supported on standalone nodes.`)
  if (role.name === 'shard') throw new CommandError(51301, `'${command}' is not supported on shard nodes.`)
}

/** @param inMemory only marks the reply: the config server's memory and storage hold the same */
export function writeStoredDefaults(node: NodeHost, inMemory: boolean): DocumentWriter {
  const kept = storedConcernDefaults(node)
  const updated = kept === null ? undefined : findField(kept, 'updateWallClockTime')
  const localUpdateMs = updated === undefined ? node.context.now() : Number(updated.asBigInt())
  const { isImplicitMajority } = setHostsOf(node)
  const facts = { localUpdateMs, inMemory, isImplicitMajority }
  return writeConcernDefaults(new DocumentWriter(512), kept, node.behaviours, facts)
}
