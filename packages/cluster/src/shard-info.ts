import type { MemberInfo } from '@shardlab/runtime'
import type { ResolvedOptions } from './resolved-options.js'

export interface ShardInfo {
  readonly id: string
  /** Connects to this shard alone and shows all its documents, including orphans. */
  readonly uri: string
  /** Absent: the shard has one member. */
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
  return { name: setName, members: members.filter(({ role }) => role === 'mongod').map(memberInfo) }
}

/** Of the mongoses, or of all members of a replica set. */
export function uriOf(members: readonly MemberInfo[], { topology, setName }: ResolvedOptions): string {
  const isSet = topology === 'replica-set'
  const hosts = members.filter(({ role }) => role === (isSet ? 'mongod' : 'mongos')).map(({ endpoint }) => endpoint)
  return `mongodb://${hosts.join(',')}/${isSet ? `?replicaSet=${setName}` : ''}`
}

export function memberInfo({ address, endpoint }: MemberInfo): ShardInfo {
  return { id: address, uri: `mongodb://${endpoint}/?directConnection=true` }
}

/** Of a replica set that is a shard, or could be. */
function shardOf(id: string, members: readonly MemberInfo[], { members: count }: ResolvedOptions): ShardInfo {
  const own = members.filter(({ address }) => setNameOf(address, count) === id)
  if (count === 1) return memberInfo(own[0]!)
  const hosts = own.map(({ endpoint }) => endpoint).join(',')
  return { id, uri: `mongodb://${hosts}/?replicaSet=${id}`, members: own.map(memberInfo) }
}

/** Members of a set of several are named after it: `shard01-2`. */
const setNameOf = (address: string, members: number): string => (members === 1 ? address : address.replace(/-\d+$/, ''))

export function shardsAmong(members: readonly MemberInfo[], options: ResolvedOptions): ShardInfo[] {
  const ids = members.filter(({ role }) => role === 'shard').map(({ address }) => setNameOf(address, options.members))
  return [...new Set(ids)].filter((id) => !options.standby.includes(id)).map((id) => shardOf(id, members, options))
}

export function standbyAmong(members: readonly MemberInfo[], { standby }: ResolvedOptions): StandbyInfo[] {
  return members
    .filter(({ address }) => standby.includes(address))
    .map((member) => ({ ...memberInfo(member), host: `${member.address}/${member.endpoint}` }))
}
