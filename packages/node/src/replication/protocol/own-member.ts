/** The member of this process in a configuration. */
import type { ActorContext } from '@shardlab/actor'
import { parseConfig, type ReplicaSetConfig, type ReplicationRules } from '@shardlab/replication'

/**
 * The configuration of a member that is alone in its set and listens elsewhere than it did: a copy,
 * or a member that started from a file.
 */
export function atEndpoint(config: ReplicaSetConfig, endpoint: string): ReplicaSetConfig {
  const [only, ...others] = config.members
  if (only === undefined || others.length > 0 || only.host === endpoint) return config
  return { ...config, members: [{ ...only, host: endpoint }] }
}

export function isArbiterIn(config: Uint8Array, rules: ReplicationRules, context: ActorContext): boolean {
  const { members } = parseConfig(config, rules).config
  return members.some(({ host, arbiterOnly }) => arbiterOnly && context.resolve(host)[0] === context.address)
}
