import { RequestFailedError } from '@shardlab/actor'
import type { CommandError } from '@shardlab/bson'
import {
  quorumFault,
  quorumVeto,
  uninitializedTerm,
  uninitializedVersion,
  type ReplicaSetConfig,
} from '@shardlab/replication'
import { heartbeatFields } from './message-fields.js'
import type { ProtocolParts } from './protocol-parts.js'

/** Members without a configuration and without entries have no data. */
async function hasData({ context }: ProtocolParts, host: string): Promise<boolean> {
  const { lastWriteMs } = await context.request(host, 'replication.member-state', {}, { pinned: true })
  return lastWriteMs > 0
}

/** Asks each member by a heartbeat. @returns why the change is refused */
export async function quorum(parts: ProtocolParts, next: ReplicaSetConfig): Promise<CommandError | null> {
  const { context, coordinator } = parts
  const { state } = coordinator
  const { setName, term } = state
  const selfHost = state.selfHostIn(next)
  const self = next.members.find(({ host }) => host === selfHost)
  const request = heartbeatFields({
    setName,
    config: state.config ?? { version: uninitializedVersion, term: uninitializedTerm },
    term,
    from: self === undefined ? null : { id: self.id, host: self.host },
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
          hasData: next.version === 1 && (await hasData(parts, host)),
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
