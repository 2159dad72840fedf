/** Runs replSetReconfig. Server: ReplicationCoordinatorImpl::_doReplSetReconfig. */
import { RequestFailedError, type CancelSignal } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { quorumFault, quorumVeto, type ReplicaSetConfig } from '@shardlab/replication'
import { heartbeatFields } from './message-fields.js'
import type { ProtocolParts } from './protocol-parts.js'

export interface ReconfigureArguments {
  readonly document: Uint8Array
  readonly force: boolean
  /** `maxTimeMS`; null: no limit. */
  readonly timeoutMs: number | null
}

type Wait = <T>(durationMs: number | null, decide: () => T | null, signal?: CancelSignal) => Promise<T | null>

/** @returns the error; null: the configuration is in effect */
export async function reconfigure(
  parts: ProtocolParts,
  wait: Wait,
  { document, force, timeoutMs }: ReconfigureArguments,
  signal: CancelSignal,
): Promise<CommandError | null> {
  const { coordinator } = parts
  const { commands, state } = coordinator
  const isSafe = !force && state.rules.safeReconfig
  const endMs = timeoutMs === null ? null : parts.nowMs + timeoutMs
  const left = () => (endMs === null ? null : Math.max(0, endMs - parts.nowMs))
  const committed = () => (coordinator.configCommitment() === 'committed' ? true : null)
  if (isSafe) {
    const fault = commands.reconfigWaitFault()
    if (fault !== null) return fault
    if ((await wait(left(), committed, signal)) === null) return commands.commitmentTimeout('before')
  }
  const options = { force, isConfigServer: false, sharding: 'none', defaultWriteConcern: null } as const
  const next = commands.reconfigure(parts.nowMs, document, options)
  if (next instanceof CommandError) return next
  const fault = force ? null : await quorum(parts, next)
  if (fault !== null) return fault
  coordinator.changeConfig(parts.nowMs, next)
  parts.carryOut()
  await wait(null, () => (state.config!.version >= next.version ? true : null), signal)
  if (isSafe && (await wait(left(), committed, signal)) === null) return commands.commitmentTimeout('after')
  return null
}

/** Asks each member by a heartbeat. @returns why the change is refused */
async function quorum(parts: ProtocolParts, next: ReplicaSetConfig): Promise<CommandError | null> {
  const { context, coordinator } = parts
  const { state } = coordinator
  const { selfHost, setName, term } = state
  const self = state.selfConfig!
  const request = heartbeatFields({
    setName,
    config: state.config!,
    term,
    from: { id: self.id, host: self.host },
    primaryId: state.primary?.id ?? null,
  })
  const responded: string[] = []
  const failed: { host: string; reason: string }[] = []
  const others = next.members.filter(({ host }) => host !== selfHost)
  const vetoes = await context.all(
    others.map(async ({ host }) => {
      try {
        const options = { pinned: true, timeoutMs: next.settings.heartbeatTimeoutMs }
        const reply = await context.request(host, 'replication.heartbeat', request, options)
        const veto = quorumVeto(next, host, {
          isOfSet: reply.refusal !== 'set-name',
          configVersion: reply.refusal === null ? reply.configVersion : -2,
          replicaSetId: null,
        })
        if (veto === null) responded.push(host)
        return veto
      } catch (error) {
        if (!(error instanceof RequestFailedError)) throw error
        failed.push({ host, reason: error.message })
        return null
      }
    }),
  )
  return vetoes.find((veto) => veto !== null) ?? quorumFault(next, selfHost, { responded, failed })
}
