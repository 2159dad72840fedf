import type { MemberInfo } from '@shardlab/runtime'
import type { ResolvedOptions } from './resolved-options.js'

export interface ShardInfo {
  readonly id: string
  /**
   * Connects to this shard alone, as a one-member replica set, and shows all its documents,
   * including orphans.
   */
  readonly uri: string
}

export interface StandbyInfo extends ShardInfo {
  /** As `addShard` takes it: `rs0/127.0.0.1:27018`. */
  readonly host: string
}

/** A replica set without sharding. */
export interface SetInfo {
  readonly name: string
  /** Connects to one member alone, as `ShardInfo.uri` does. */
  readonly members: readonly ShardInfo[]
}

export function setAmong(members: readonly MemberInfo[], { topology, setName }: ResolvedOptions): SetInfo | null {
  if (topology !== 'replica-set') return null
  return { name: setName, members: members.filter(({ role }) => role === 'mongod').map(shardInfo) }
}

/** Of the mongoses, or of all members of a replica set. */
export function uriOf(members: readonly MemberInfo[], { topology, setName }: ResolvedOptions): string {
  const isSet = topology === 'replica-set'
  const hosts = members.filter(({ role }) => role === (isSet ? 'mongod' : 'mongos')).map(({ endpoint }) => endpoint)
  return `mongodb://${hosts.join(',')}/${isSet ? `?replicaSet=${setName}` : ''}`
}

export function shardInfo({ address, endpoint }: MemberInfo): ShardInfo {
  return { id: address, uri: `mongodb://${endpoint}/?directConnection=true` }
}

export function shardsAmong(members: readonly MemberInfo[], { standby }: ResolvedOptions): ShardInfo[] {
  return members.filter(({ role, address }) => role === 'shard' && !standby.includes(address)).map(shardInfo)
}

export function standbyAmong(members: readonly MemberInfo[], { standby }: ResolvedOptions): StandbyInfo[] {
  return members
    .filter(({ address }) => standby.includes(address))
    .map((member) => ({ ...shardInfo(member), host: `${member.address}/${member.endpoint}` }))
}
