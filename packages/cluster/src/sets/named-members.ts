/** Members as calls of the API name them: by their name, or by that of their set. */
import type { Address } from '@shardlab/actor'
import type { Runtime } from '@shardlab/runtime'
import { chooseMembers } from '../faults/targets/choose-members.js'
import { membersOfSet } from '../faults/targets/named-target.js'
import { findMember, memberNamed } from '../member-names.js'
import { OptionError } from '../option-error.js'

/**
 * The name of a set means its primary.
 * @returns no promise for the name of a member
 * @throws OptionError for an unknown name, or a set without a primary
 */
export function memberOrPrimary(runtime: Runtime, name: string): Address | Promise<Address> {
  const members = runtime.members()
  const member = findMember(name, members)
  if (member !== undefined) return member.address
  return membersOfSet(name, members).length > 0 ? primaryOf(runtime, name) : memberNamed(name, members).address
}

async function primaryOf(runtime: Runtime, set: Address): Promise<Address> {
  const chosen = await chooseMembers({ name: set, choice: 'primary' }, runtime)
  if ('missing' in chosen) throw new OptionError(`${chosen.missing}.`)
  return chosen.members[0]!
}

/**
 * The name of a set means all its members.
 * @throws OptionError for an unknown name
 */
export function namedMembers(runtime: Runtime, name: string): readonly Address[] {
  const members = runtime.members()
  const ofSet = findMember(name, members) === undefined ? membersOfSet(name, members) : []
  return ofSet.length > 0 ? ofSet.map(({ address }) => address) : [memberNamed(name, members).address]
}

/** As {@link namedMembers}, of a set those that are down. */
export function membersToRestart(runtime: Runtime, name: string): readonly Address[] {
  const named = namedMembers(runtime, name)
  if (named.length === 1) return named
  return named.filter((address) => ['crashed', 'stopped'].includes(runtime.member(address)!.state))
}
