/** Names of members as people write them, in faults and in the API alike. */
import type { Address } from '@shardlab/actor'
import type { MemberInfo } from '@shardlab/runtime'
import { OptionError } from './option-error.js'

/**
 * Accepts a name with a zero left out: `mongos1`, `shard2-1`.
 * @throws OptionError when the cluster has no such member
 */
export function memberNamed(name: string, members: readonly MemberInfo[]): MemberInfo {
  const member = findMember(name, members)
  if (member === undefined)
    throw new OptionError(`${name} is not a member of this cluster; its members are ${addresses(members).join(', ')}.`)
  return member
}

/** undefined: there is no such member. */
export function findMember(name: string, members: readonly MemberInfo[]): MemberInfo | undefined {
  const padded = name.replace(/^(\D+)(\d)(-\d+)?$/, '$10$2$3')
  return members.find(({ address }) => address === name) ?? members.find(({ address }) => address === padded)
}

/** Sorted. */
export function addresses(members: readonly MemberInfo[]): Address[] {
  return members.map(({ address }) => address).toSorted()
}
