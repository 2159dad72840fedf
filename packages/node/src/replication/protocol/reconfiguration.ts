/** Runs replSetReconfig. Server: ReplicationCoordinatorImpl::_doReplSetReconfig. */
import type { CancelSignal } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { ReconfigOptions } from '@shardlab/replication'
import type { ProtocolParts } from './protocol-parts.js'
import { quorum } from './quorum.js'
import type { SetWaits } from './set-waits.js'

export interface ReconfigureArguments extends Omit<ReconfigOptions, 'force'> {
  readonly document: Uint8Array
  readonly force: boolean
  /** `maxTimeMS`; null: no limit. */
  readonly timeoutMs: number | null
}

/** @returns the error; null: the configuration is in effect */
export async function reconfigure(
  parts: ProtocolParts & { readonly waits: SetWaits },
  { document, timeoutMs, ...options }: ReconfigureArguments,
  signal: CancelSignal,
): Promise<CommandError | null> {
  const { coordinator, waits } = parts
  const { commands, state } = coordinator
  const { force } = options
  const isSafe = !force && state.rules.safeReconfig
  const endMs = timeoutMs === null ? null : parts.nowMs + timeoutMs
  const left = () => (endMs === null ? null : Math.max(0, endMs - parts.nowMs))
  const committed = () => (coordinator.configCommitment() === 'committed' ? true : null)
  if (isSafe) {
    const fault = commands.reconfigWaitFault()
    if (fault !== null) return fault
    if ((await waits.within(left(), committed, signal)) === null) return commands.commitmentTimeout('before')
  }
  const next = commands.reconfigure(parts.nowMs, document, options)
  if (next instanceof CommandError) return next
  const fault = force ? null : await quorum(parts, next)
  if (fault !== null) return fault
  coordinator.changeConfig(parts.nowMs, next)
  parts.carryOut()
  await waits.within(null, () => (state.config!.version >= next.version ? true : null), signal)
  if (isSafe && (await waits.within(left(), committed, signal)) === null) return commands.commitmentTimeout('after')
  return null
}
