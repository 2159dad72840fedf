/**
 * Server: haveNumNodesReachedOpTime, haveTaggedNodesReachedOpTime,
 * checkIfWriteConcernCanBeSatisfied.
 */
import {
  isVoter,
  writeMajorityCount,
  type MemberConfig,
  type ReplicaSetConfig,
  type TagMode,
} from '../config/replica-set-config.js'
import type { MemberView } from '../members/member-view.js'
import { compareTimestamps, type OpTime } from '../optime.js'
import type { ProtocolState } from '../state/protocol-state.js'

/** Progress in another term does not count: that entry may be in another branch of the history. */
function hasReached(view: MemberView, target: OpTime, journaled: boolean): boolean {
  const { optime } = journaled ? view.durable : view.applied
  return optime.term === target.term && compareTimestamps(optime.ts, target.ts) >= 0
}

/** Every member with data counts, voting or not; arbiters never do. */
export function haveMembersReached(state: ProtocolState, target: OpTime, count: number, journaled: boolean): boolean {
  if (!hasReached(state.self, target, journaled)) return false
  return countMembers(state, (view, member) => !member.arbiterOnly && hasReached(view, target, journaled)) >= count
}

/** By the voters that a majority write needs. */
export function haveMajorityReached(state: ProtocolState, target: OpTime, journaled = false): boolean {
  const count = countMembers(
    state,
    (view, member) => isVoter(member) && !member.arbiterOnly && hasReached(view, target, journaled),
  )
  return count >= writeMajorityCount(state.config!)
}

export function haveTagsReached(state: ProtocolState, target: OpTime, mode: TagMode, journaled: boolean): boolean {
  if (!hasReached(state.self, target, journaled)) return false
  return isModeSatisfied(
    state.config!.members.filter((_, index) => hasReached(state.members[index]!, target, journaled)),
    mode,
  )
}

/** Whether all members together could satisfy the mode. */
export function isModeSatisfied(members: readonly MemberConfig[], mode: TagMode): boolean {
  return mode.every(([tag, distinctValues]) => {
    const values = new Set<string>()
    for (const { tags } of members) for (const [name, value] of tags) if (name === tag) values.add(value)
    return values.size >= distinctValues
  })
}

/** Members that can ever acknowledge `w: n`. */
export const dataMemberCount = ({ members }: ReplicaSetConfig): number =>
  members.filter(({ arbiterOnly }) => !arbiterOnly).length

function countMembers(state: ProtocolState, counts: (view: MemberView, member: MemberConfig) => boolean): number {
  let count = 0
  for (let i = 0; i < state.members.length; i++) if (counts(state.members[i]!, state.config!.members[i]!)) count++
  return count
}
