/** Runs replSetInitiate. Server: ReplicationCoordinatorImpl::processReplSetInitiate. */
import { CommandError } from '@shardlab/bson'
import { type InitiateOptions } from '@shardlab/replication'
import type { ProtocolParts } from './protocol-parts.js'
import { quorum } from './quorum.js'
import type { SetWaits } from './set-waits.js'

/**
 * @param writeFirstEntry begins the oplog of this member
 * @returns the error; null: the configuration is in effect
 */
export async function initiate(
  parts: ProtocolParts & { readonly waits: SetWaits },
  document: Uint8Array,
  options: InitiateOptions,
  writeFirstEntry: () => Promise<void>,
): Promise<CommandError | null> {
  const { coordinator, waits } = parts
  const config = coordinator.commands.initiate(parts.nowMs, document, options)
  if (config instanceof CommandError) return config
  const fault = await quorum(parts, config)
  if (fault !== null) return fault
  // Another command, or another member, may have been faster.
  if (coordinator.state.config !== null || coordinator.state.storing !== null)
    return new CommandError('AlreadyInitialized', 'already initialized')
  await writeFirstEntry()
  const { log } = parts
  coordinator.progress(parts.nowMs, log.last, log.durable)
  coordinator.changeConfig(parts.nowMs, config)
  parts.carryOut()
  await waits.within(null, () => (coordinator.state.config === null ? null : true))
  coordinator.setFollowerMode(parts.nowMs, 'SECONDARY')
  parts.carryOut()
  return null
}
