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
