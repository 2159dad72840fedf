import type { Address } from '@shardlab/actor'
import type { Alarm, LinkEnd } from '@shardlab/runtime'
import type { AppliedFault } from './applied-fault.js'
import type { FaultLink, RunningFault } from './fault-world.js'
import type { FirstStrike } from './first-strike.js'
import { formatFault } from './grammar.js'
import type { ResolvedFault } from './resolve.js'

/** The effect of a fault on one member, or on links or steps. */
export interface FaultPart {
  /** null: the part is not on one member. */
  readonly member: Address | null
  /** null: it is beginning. */
  running: RunningFault | null
  /** Its member was started or ended while the part was beginning. */
  isOver: boolean
}

/** A fault from its application until it is healed. */
export interface Entry {
  readonly id: string
  readonly resolved: ResolvedFault
  beginsAtMs: number
  healsAtMs: number | null
  alarm: Alarm | null
  state: 'scheduled' | 'waiting' | 'begun' | 'over'
  /** Those that the fault names, as chosen when it began; empty before. */
  members: readonly Address[]
  /** Between them; null: not on links, or not begun. */
  link: FaultLink | null
  /** At work or beginning. */
  parts: FaultPart[]
  readonly strike: FirstStrike
}

/**
 * Removes a member from the members and the link of a fault; the caller ends the returned parts.
 * @returns the parts on this member, and those on links or steps that concern no other one
 */
export function removeFromFault(member: Address, entry: Entry): FaultPart[] {
  if (!entry.members.includes(member)) return []
  entry.members = entry.members.filter((each) => each !== member)
  if (entry.link !== null) entry.link = { from: without(entry.link.from, member), to: without(entry.link.to, member) }
  const isOver = entry.link === null ? entry.members.length === 0 : Object.values(entry.link).some(isNone)
  return entry.parts.filter((part) => part.member === member || (part.member === null && isOver))
}

function without(end: LinkEnd, member: Address): LinkEnd {
  return typeof end === 'string' ? end : end.filter((each) => each !== member)
}

const isNone = (end: LinkEnd): boolean => typeof end !== 'string' && end.length === 0

export function appliedFault({ id, resolved, state, beginsAtMs, healsAtMs, members, parts }: Entry): AppliedFault {
  const { spec } = resolved
  const running = parts.flatMap((part) => part.running ?? [])
  const strikes = running[0]?.strikes() ?? null
  const isExhausted = 'first' in spec && spec.first !== undefined && strikes !== null && strikes >= spec.first
  const begun = isExhausted ? 'exhausted' : 'active'
  return {
    ...{ id, fault: formatFault(spec), spec, members, beginsAtMs, healsAtMs, strikes },
    state: state === 'scheduled' || state === 'waiting' ? state : begun,
  }
}
