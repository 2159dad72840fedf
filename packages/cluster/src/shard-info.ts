import { configAddress } from '@shardlab/actor'
import type { MemberInfo } from '@shardlab/runtime'
import type { ResolvedOptions } from './resolved-options.js'

export interface ShardInfo {
  readonly id: string
  /** Connects to this shard alone and shows all its documents, including orphans. */
  readonly uri: string
  /** In the order of their start. Absent: the shard has one member. */
  readonly members?: readonly ShardInfo[]
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
  return { name: setName, members: members.filter(({ set }) => set === setName).map(memberInfo) }
}

/** Of the mongoses, of all members of a replica set, or of a standalone mongod. */
export function uriOf(members: readonly MemberInfo[], { topology, setName }: ResolvedOptions): string {
  const role = topology === 'sharded' ? 'mongos' : 'mongod'
  const hosts = members.filter((member) => member.role === role).map(({ endpoint }) => endpoint)
  return `mongodb://${hosts.join(',')}/${topology === 'replica-set' ? `?replicaSet=${setName}` : ''}`
}

export function memberInfo({ address, endpoint }: MemberInfo): ShardInfo {
  return { id: address, uri: `mongodb://${endpoint}/?directConnection=true` }
}

/** Of a replica set. */
export function shardInfo(set: string, all: readonly MemberInfo[]): ShardInfo {
  const members = all.filter((member) => member.set === set)
  if (members.length === 1 && members[0]!.address === set) return memberInfo(members[0]!)
  const hosts = members.map(({ endpoint }) => endpoint).join(',')
  return { id: set, uri: `mongodb://${hosts}/?replicaSet=${set}`, members: members.map(memberInfo) }
}

/** Null: this is no sharded cluster. */
export function configAmong(members: readonly MemberInfo[]): ShardInfo | null {
  return members.some(({ set }) => set === configAddress) ? shardInfo(configAddress, members) : null
}

/** Names of the sets of all shards, without those in standby. */
export function shardsAmong(members: readonly MemberInfo[], { standby }: ResolvedOptions): string[] {
  return shardSets(members).filter((set) => !standby.includes(set))
}

export function standbyAmong(members: readonly MemberInfo[], { standby }: ResolvedOptions): StandbyInfo[] {
  return shardSets(members)
    .filter((set) => standby.includes(set))
    .map((set) => ({
      ...shardInfo(set, members),
      host: `${set}/${members
        .filter((member) => member.set === set)
        .map(({ endpoint }) => endpoint)
        .join(',')}`,
    }))
}

const shardSets = (members: readonly MemberInfo[]): string[] => [
  ...new Set(members.filter(({ role }) => role === 'shard').map(({ set }) => set)),
]
