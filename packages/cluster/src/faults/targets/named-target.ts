/** Members as faults name them: by name, by set, or by their state in a set. */
import type { Address } from '@shardlab/actor'
import type { MemberInfo } from '@shardlab/runtime'
import { addresses, findMember } from '../../member-names.js'
import { OptionError } from '../../option-error.js'

/** `members`: of the set, in any state. The others are chosen when the fault begins. */
export type Choice = 'members' | 'primary' | 'secondary' | 'secondaries'

export interface NamedTarget {
  /** As it is written in texts: `shard02-1`, `shard02`, `the primary of shard02`. */
  readonly text: string
  /** The member or the set. */
  readonly name: Address
  /** null: the single member of that name. */
  readonly choice: Choice | null
  readonly role: string
}

const phrases: readonly (readonly [phrase: string, choice: Choice])[] = [
  ['the primary of', 'primary'],
  ['a secondary of', 'secondary'],
  ['the secondaries of', 'secondaries'],
]

/** The words of {@link phrases}, for the correction of misspelt ones. */
export const wordsOfTargets = [...new Set(phrases.flatMap(([phrase]) => phrase.split(' ')))]

/** Matches a name or a phrase with a name. The article may be left out. */
export const targetPattern = String.raw`(?:(?:(?:the )?primary|(?:a )?secondary|(?:the )?secondaries) of )?\S+`

/** The name of the member or set in the text of a target. */
export function nameInTarget(text: string): string {
  return partsOf(text).name
}

/**
 * undefined: the cluster has no such member or set.
 * @throws OptionError for a state of something that is no set
 */
export function findTarget(text: string, members: readonly MemberInfo[]): NamedTarget | undefined {
  const { choice, name } = partsOf(text)
  const member = findMember(name, members)
  if (member !== undefined && choice === null) {
    const { address, role } = member
    return { text: address, name: address, choice, role }
  }
  const set = findSet(member?.address ?? name, members)
  if (member !== undefined && set === undefined)
    throw new OptionError(
      `${member.address} is a member of the set ${member.set}: write '${textOf(choice, member.set)}'.`,
    )
  if (set === undefined) return undefined
  if (choice !== null) checkHasStates(choice, set, members)
  return { text: textOf(choice, set.set), name: set.set, choice: choice ?? 'members', role: set.role }
}

/** @throws OptionError when the cluster has no such member or set */
export function targetNamed(text: string, members: readonly MemberInfo[]): NamedTarget {
  const target = findTarget(text, members)
  if (target !== undefined) return target
  const { name } = partsOf(text)
  const sets = setsOf(members)
  const known = sets.length === 0 ? '' : `, its replica sets ${sets.join(', ')}`
  throw new OptionError(
    `${name} is not a member of this cluster; its members are ${addresses(members).join(', ')}${known}.`,
  )
}

/** Sets of several members, sorted. */
export function setsOf(members: readonly MemberInfo[]): Address[] {
  return [...new Set(members.filter(({ address, set }) => set !== address).map(({ set }) => set))].toSorted()
}

/** In the order of their start. */
export function membersOfSet(name: Address, members: readonly MemberInfo[]): MemberInfo[] {
  return members.filter(({ set }) => set === name)
}

function partsOf(text: string): { readonly choice: Choice | null; readonly name: string } {
  for (const [phrase, choice] of phrases) {
    const [article, noun] = phrase.split(' ')
    const match = new RegExp(`^(?:${article} )?${noun} of (\\S+)$`).exec(text)
    if (match !== null) return { choice, name: match[1]! }
  }
  return { choice: null, name: text }
}

function textOf(choice: Choice | null, name: Address): string {
  const phrase = phrases.find(([, each]) => each === choice)?.[0]
  return phrase === undefined ? name : `${phrase} ${name}`
}

/** One of its members. A name with a zero left out is accepted: `shard2`. */
function findSet(name: string, members: readonly MemberInfo[]): MemberInfo | undefined {
  const padded = name.replace(/^(\D+)(\d)$/, '$10$2')
  return members.find(({ set }) => set === name) ?? members.find(({ set }) => set === padded)
}

const rolesWithPrimaries: ReadonlySet<string> = new Set(['shard', 'config-server', 'mongod'])

function checkHasStates(choice: Choice, { address, set, role }: MemberInfo, members: readonly MemberInfo[]): void {
  if (!rolesWithPrimaries.has(role)) throw new OptionError(`${address} is in no replica set, so it has no ${choice}.`)
  if (choice !== 'primary' && membersOfSet(set, members).length === 1)
    throw new OptionError(`${set} has one member, its primary, so there is no secondary.`)
}
