import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { configDocument, isElectable, type ReplicationRules } from '@shardlab/replication'
import { opTimeFields } from './message-fields.js'
import { persist } from './persist.js'
import type { ProtocolParts } from './protocol-parts.js'

/** The members of a copied set listen elsewhere than their configuration says. */
export async function relocate(
  set: ProtocolParts,
  rules: ReplicationRules,
  request: RequestOf<'replication.relocate'>,
): Promise<ReplyOf<'replication.relocate'>> {
  const { coordinator, log } = set
  const { config } = coordinator.state
  const moved = new Map(request.moved)
  if (config !== null && config.members.some(({ host }) => moved.has(host))) {
    const members = config.members.map((member) => ({ ...member, host: moved.get(member.host) ?? member.host }))
    const next = { ...config, members }
    await persist(set.context, () => log.storeConfig(configDocument(next, rules)))
    coordinator.relocated(set.nowMs, next)
    set.carryOut()
  }
  const { selfConfig } = coordinator.state
  return {
    applied: opTimeFields(log.last.optime),
    electable: selfConfig !== null && isElectable(selfConfig),
  }
}
