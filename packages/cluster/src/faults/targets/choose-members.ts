/** The members that the words of a fault mean now, by the states that they report themselves. */
import type { Address } from '@shardlab/actor'
import type { MemberInfo, Runtime } from '@shardlab/runtime'
import { membersOfSet, type NamedTarget } from './named-target.js'

/** `missing`: why no member fits now, as the rest of a sentence. */
export type ChosenMembers = { readonly members: readonly Address[] } | { readonly missing: string }

interface MemberWithState {
  readonly address: Address
  /** Of replSetGetStatus; of a member that does not run, `crashed` or `stopped`. */
  readonly state: string
  readonly term: number
}

export async function chooseMembers(
  { name, choice }: Pick<NamedTarget, 'name' | 'choice'>,
  runtime: Runtime,
): Promise<ChosenMembers> {
  if (choice === null) return { members: [name] }
  const infos = membersOfSet(name, runtime.members())
  const all = infos.map(({ address }) => address)
  if (choice === 'members') return { members: all }
  // The only member of a set is its primary as soon as it runs.
  if (all.length === 1) return { members: all }
  const known = await Promise.all(infos.map((info) => stateOf(info, runtime)))
  const members =
    choice === 'primary' ? primaryAmong(known) : known.filter(({ state }) => state === 'SECONDARY').map(addressOf)
  if (members.length > 0) return { members: choice === 'secondary' ? members.slice(0, 1) : members }
  const states = known.map(({ address, state }) => `${address} is ${state}`).join(', ')
  return { missing: `${name} has no ${choice === 'primary' ? 'primary' : 'secondary'} now: ${states}` }
}

/** An isolated primary of an earlier term may not know yet that there is another one. */
function primaryAmong(members: readonly MemberWithState[]): readonly Address[] {
  const primaries = members.filter(({ state }) => state === 'PRIMARY').toSorted((a, b) => b.term - a.term)
  return primaries.slice(0, 1).map(addressOf)
}

const addressOf = ({ address }: MemberWithState): Address => address

async function stateOf({ address, state }: MemberInfo, runtime: Runtime): Promise<MemberWithState> {
  const without = { address, state, term: -1 }
  if (state !== 'running') return without
  try {
    const { state: ofSet, term } = await runtime.describe(address)
    return { address, state: String(ofSet), term: Number(term) }
  } catch {
    // The member ended while it was asked.
    return { ...without, state: runtime.member(address)?.state ?? state }
  }
}
