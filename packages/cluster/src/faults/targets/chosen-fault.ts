import type { Address } from '@shardlab/actor'
import type { LinkEnd, Runtime } from '@shardlab/runtime'
import { OptionError } from '../../option-error.js'
import type { FaultLink } from '../fault-world.js'
import { phraseOf } from '../grammar.js'
import { checkEnds, clientsEnd, type NamedEnd, type ResolvedFault } from '../resolve.js'
import { chooseMembers, type ChosenMembers } from './choose-members.js'

export interface ChosenFault {
  /** Those that the fault names. */
  readonly members: readonly Address[]
  readonly link: FaultLink | null
}

/** `missing`: why the fault cannot begin yet, as the rest of a sentence. */
type Choice = ChosenFault | { readonly missing: string }

/**
 * @param isPaused whether a pause is at work on a member
 * @throws OptionError if no chosen member is in the state that the verb needs
 */
export async function chooseFor(
  resolved: ResolvedFault,
  runtime: Runtime,
  isPaused: (member: Address) => boolean,
): Promise<Choice> {
  const { target, link } = resolved
  if (link !== null) {
    const from = await endOf(link.from, runtime)
    const to = await endOf(link.to, runtime)
    if ('missing' in from) return from
    if ('missing' in to) return to
    if (from.members.length === 1 && to.members.length === 1) checkEnds(from.members[0]!, to.members[0]!)
    return { members: [...new Set([...from.members, ...to.members])], link: { from: from.end, to: to.end } }
  }
  if (target === null) return { members: [], link: null }
  const chosen = await chooseMembers(target, runtime)
  if ('missing' in chosen) return chosen
  return { members: inNeededState(resolved, chosen.members, runtime, isPaused), link: null }
}

async function endOf(
  end: NamedEnd,
  runtime: Runtime,
): Promise<{ readonly end: LinkEnd; readonly members: readonly Address[] } | { readonly missing: string }> {
  if (typeof end === 'string') return { end: end === 'clients' ? clientsEnd : end, members: [] }
  const chosen: ChosenMembers = await chooseMembers(end, runtime)
  return 'missing' in chosen ? chosen : { end: chosen.members, members: chosen.members }
}

/** @throws OptionError if no member fits */
function inNeededState(
  { verb, target }: ResolvedFault,
  members: readonly Address[],
  runtime: Runtime,
  isPaused: (member: Address) => boolean,
): readonly Address[] {
  if (verb.on !== 'member' || verb.needs === undefined) return members
  const isRunning = (member: Address) => ['running', 'starting'].includes(runtime.member(member)?.state ?? '')
  const fitting = members.filter(verb.needs === 'running' ? isRunning : isPaused)
  if (fitting.length > 0) return fitting
  const { title } = phraseOf(verb.verb)
  const [one, another] = members
  if (another !== undefined)
    throw new OptionError(
      `${title}: no member of ${target!.name} is ${verb.needs}.${verb.needs === 'running' ? ' Restart one first.' : ''}`,
    )
  if (verb.needs === 'paused') throw new OptionError(`${title}: ${one} is not paused.`)
  const end = runtime.member(one!)?.state === 'stopped' ? 'been stopped' : 'crashed'
  throw new OptionError(`${title}: ${one} is not running (it has ${end}). Restart it first.`)
}
