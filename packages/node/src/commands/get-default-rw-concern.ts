import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField, stringValue } from '@shardlab/bson'
import { concernDefaultsId, writeConcernDefaults, getDefaultRWConcernSpec } from '@shardlab/member'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'
export const configSettings = 'config.settings'

export const getDefaultRWConcern: CommandRow<NodeInvocation> = {
  ...getDefaultRWConcernSpec,
  routing: 'config-server',
  status: 'full',
  summary: 'Tells which read and write concern hold where a command names none.',
  run({ args, host }) {
    refuseOnShards(host, 'getDefaultRWConcern')
    return writeKeptDefaults(host, args.bool('inMemory') ?? false)
  },
}

/** @throws CommandError 51301 */
export function refuseOnShards({ role }: NodeHost, command: string): void {
  if (role.name === 'shard') throw new CommandError(51301, `'${command}' is not supported on shard nodes.`)
}

/** What was set, in config.settings. */
export function concernDefaultsKept(node: NodeHost): Uint8Array | null {
  return node.collection(configSettings)?.findById(stringValue(concernDefaultsId))?.document ?? null
}

/** The config server has in memory what it keeps. */
export function writeKeptDefaults(node: NodeHost, inMemory: boolean): DocumentWriter {
  const kept = concernDefaultsKept(node)
  const updated = kept === null ? undefined : findField(kept, 'updateWallClockTime')
  const localUpdateMs = updated === undefined ? node.context.now() : Number(updated.asBigInt())
  return writeConcernDefaults(new DocumentWriter(512), kept, node.behaviours, { localUpdateMs, inMemory })
}
