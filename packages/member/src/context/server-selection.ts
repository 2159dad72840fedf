/** Server: server_selector.cpp. Manual: core/read-preference-mechanics. */
import type { Address } from '@shardlab/actor'
import type { ReadPreference, TagSet } from '../concerns/read-preference.js'

export interface KnownMember {
  readonly address: Address
  /** Null: it does not answer. */
  readonly state: 'primary' | 'secondary' | 'other' | null
  readonly tags: ReadonlyMap<string, string>
  readonly lastWriteMs: number
  /** When this was received. */
  readonly updatedAtMs: number
  /** An average of round trips. */
  readonly pingMs: number
}

/** Of the server's monitor of replica sets. Members are assumed to be asked this often. */
const heartbeatMs = 10_000
const localThresholdMs = 15

/** Members that are equally suitable, in the order of `members`; empty: none is suitable. */
export function suitableMembers(members: readonly KnownMember[], preference: ReadPreference): KnownMember[] {
  const candidates = candidatesOf(members, preference)
  const nearestMs = Math.min(...candidates.map(({ pingMs }) => pingMs))
  return candidates.filter(({ pingMs }) => pingMs <= nearestMs + localThresholdMs)
}

function candidatesOf(members: readonly KnownMember[], preference: ReadPreference): KnownMember[] {
  const primaries = members.filter(({ state }) => state === 'primary')
  const secondaries = members.filter(({ state }) => state === 'secondary')
  const fresh = (among: KnownMember[]): KnownMember[] => {
    const recent = among.filter((member) => stalenessMs(members, member) <= (preference.maxStalenessMs ?? Infinity))
    return withTags(recent, preference.tagSets)
  }
  switch (preference.mode) {
    case 'primary':
      return primaries
    case 'primaryPreferred':
      return primaries.length > 0 ? primaries : fresh(secondaries)
    case 'secondary':
      return fresh(secondaries)
    case 'secondaryPreferred': {
      const found = fresh(secondaries)
      return found.length > 0 ? found : primaries
    }
    case 'nearest':
      return fresh([...primaries, ...secondaries])
  }
}

function withTags(members: KnownMember[], tagSets: readonly TagSet[]): KnownMember[] {
  if (tagSets.length === 0) return members
  for (const tagSet of tagSets) {
    const found = members.filter(({ tags }) => tagSet.every(([name, value]) => tags.get(name) === value))
    if (found.length > 0) return found
  }
  return []
}

function stalenessMs(members: readonly KnownMember[], member: KnownMember): number {
  if (member.state !== 'secondary') return 0
  const primary = members.find(({ state }) => state === 'primary')
  if (primary !== undefined)
    return member.updatedAtMs - member.lastWriteMs - (primary.updatedAtMs - primary.lastWriteMs) + heartbeatMs
  const writes = members.map(({ state, lastWriteMs }) => (state === 'secondary' ? lastWriteMs : 0))
  return Math.max(...writes) - member.lastWriteMs + heartbeatMs
}
