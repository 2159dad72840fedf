import { hostLists, isImplicitMajority } from '@shardlab/replication'
import type { NodeHost } from '../host/node-host.js'

export interface SetHosts {
  /** Each list as in hello. */
  readonly hosts: readonly string[]
  readonly passives: readonly string[]
  readonly arbiters: readonly string[]
  /** Since 5.0: whether clients that name no write concern have majority writes. */
  readonly isImplicitMajority: boolean
}

export function setHostsOf({ context, set }: Pick<NodeHost, 'context' | 'set'>): SetHosts {
  const config = set.coordinator.state.config
  if (config === null) return { hosts: [context.endpoint], passives: [], arbiters: [], isImplicitMajority: true }
  return { ...hostLists(config), isImplicitMajority: isImplicitMajority(config) }
}

/** `shard01/127.0.0.1:5000,127.0.0.1:5001`: without arbiters, hidden and delayed members. */
export function connectionStringOf(node: Pick<NodeHost, 'context' | 'set' | 'role'>): string {
  const { hosts, passives } = setHostsOf(node)
  return `${node.role.setName}/${[...hosts, ...passives].join(',')}`
}
