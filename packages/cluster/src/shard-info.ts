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

export function setAmong(members: readonly MemberInfo[], options: ResolvedOptions): SetInfo | null {
  const { topology, setName } = options
  if (topology !== 'replica-set') return null
  const ofSet = members.filter(({ set }) => set === setName)
  return { name: setName, members: ofSet.map((member) => memberInfo(member, options)) }
}

type ClientOptions = Pick<ResolvedOptions, 'tls'>

/** @param query for drivers, such as `replicaSet=rs0`; empty: none */
function uriWith(hosts: readonly string[], query: string, { tls }: ClientOptions): string {
  const fields = [query, ...(tls?.mode === 'requireTLS' ? ['tls=true'] : [])].filter((each) => each !== '')
  return `mongodb://${hosts.join(',')}/${fields.length === 0 ? '' : `?${fields.join('&')}`}`
}

/** Of the mongoses, of all members of a replica set, or of a standalone mongod. */
export function uriOf(members: readonly MemberInfo[], options: ResolvedOptions): string {
  const { topology, setName } = options
  const role = topology === 'sharded' ? 'mongos' : 'mongod'
  const hosts = members.filter((member) => member.role === role).map(({ endpoint }) => endpoint)
  return uriWith(hosts, topology === 'replica-set' ? `replicaSet=${setName}` : '', options)
}

export function memberInfo({ address, endpoint }: MemberInfo, options: ClientOptions): ShardInfo {
  return { id: address, uri: uriWith([endpoint], 'directConnection=true', options) }
}

/** Of a replica set. */
export function shardInfo(set: string, all: readonly MemberInfo[], options: ClientOptions): ShardInfo {
  const members = all.filter((member) => member.set === set)
  if (members.length === 1 && members[0]!.address === set) return memberInfo(members[0]!, options)
  const hosts = members.map(({ endpoint }) => endpoint)
  return {
    ...{ id: set, uri: uriWith(hosts, `replicaSet=${set}`, options) },
    members: members.map((member) => memberInfo(member, options)),
  }
}

/** Null: this is no sharded cluster. */
export function configAmong(members: readonly MemberInfo[], options: ClientOptions): ShardInfo | null {
  return members.some(({ set }) => set === configAddress) ? shardInfo(configAddress, members, options) : null
}

/** Names of the sets of all shards, without those in standby. */
export function shardsAmong(members: readonly MemberInfo[], { standby }: ResolvedOptions): string[] {
  return shardSets(members).filter((set) => !standby.includes(set))
}

export function standbyAmong(members: readonly MemberInfo[], options: ResolvedOptions): StandbyInfo[] {
  const { standby } = options
  return shardSets(members)
    .filter((set) => standby.includes(set))
    .map((set) => ({
      ...shardInfo(set, members, options),
      host: `${set}/${members
        .filter((member) => member.set === set)
        .map(({ endpoint }) => endpoint)
        .join(',')}`,
    }))
}

const shardSets = (members: readonly MemberInfo[]): string[] => [
  ...new Set(members.filter(({ role }) => role === 'shard').map(({ set }) => set)),
]
