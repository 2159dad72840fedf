/**
 * Whether a write concern is satisfied. Server: checkIfWriteConcernCanBeSatisfied,
 * _doneWaitingForReplication, startWaitingForReplication.
 */
import { CommandError } from '@shardlab/bson'
import type { ReplicaSetConfig, TagMode } from '../config/replica-set-config.js'
import { compareOpTimes, type OpTime } from '../optime.js'
import type { ProtocolState } from '../state/protocol-state.js'
import {
  dataMemberCount,
  haveMajorityReached,
  haveMembersReached,
  haveTagsReached,
  isModeSatisfied,
} from './write-concern.js'

export interface WriteConcern {
  /** A number of members, `majority`, a mode of the settings, or tags. */
  readonly w: number | string | TagMode
  /** Null: not given. A majority journals by the configuration, other concerns do not. */
  readonly j: boolean | null
}

/** @returns why no members of this configuration can satisfy it; null: some can */
export function writeConcernFault(config: ReplicaSetConfig, { w }: Pick<WriteConcern, 'w'>): CommandError | null {
  if (w === 'majority') return null
  if (typeof w === 'number') {
    return w <= Math.max(1, dataMemberCount(config))
      ? null
      : new CommandError('UnsatisfiableWriteConcern', 'Not enough data-bearing nodes')
  }
  if (typeof w === 'object') return tagsFault(config, w)
  const mode = modeOf(config, w)
  if (mode === null) {
    return new CommandError(
      'UnknownReplWriteConcern',
      `No write concern mode named '${escaped(w)}' found in replica set configuration`,
    )
  }
  return isModeSatisfied(config.members, mode)
    ? null
    : new CommandError('UnsatisfiableWriteConcern', `Not enough nodes match write concern mode "${w}"`)
}

function tagsFault({ members }: ReplicaSetConfig, tags: TagMode): CommandError | null {
  const missing = tags.find(([tag]) => !members.some((member) => member.tags.some(([name]) => name === tag)))
  if (missing !== undefined) return new CommandError('NoSuchKey', `No replica set tag key ${missing[0]} in config`)
  if (isModeSatisfied(members, tags)) return null
  const text = tags.map(([tag, count]) => `${JSON.stringify(tag)}: ${count}`).join(', ')
  return new CommandError('UnsatisfiableWriteConcern', `Not enough nodes match write concern mode "{${text}}"`)
}

const modeOf = ({ settings }: ReplicaSetConfig, name: string): TagMode | null =>
  settings.modes.find(([other]) => other === name)?.[1] ?? null

/** Server: str::escape. */
function escaped(text: string): string {
  const quoted = JSON.stringify(text).slice(1, -1)
  return quoted.replaceAll('/', '\\/')
}

/** @param target the last entry of the operation; @returns an error: the wait is over */
export function decideWriteConcern(
  state: ProtocolState,
  target: OpTime,
  { w, j }: WriteConcern,
): 'satisfied' | 'waiting' | CommandError {
  const ended = termFault(state, target)
  if (ended !== null) return ended
  if (w === 0) return 'satisfied'
  const { config } = state
  const fault = writeConcernFault(config!, { w })
  if (fault !== null) return fault
  return isSatisfied(state, target, w, j ?? (w === 'majority' && config!.majorityJournals)) ? 'satisfied' : 'waiting'
}

function isSatisfied(state: ProtocolState, target: OpTime, w: WriteConcern['w'], journaled: boolean): boolean {
  if (typeof w === 'object') return haveTagsReached(state, target, w, journaled)
  if (typeof w === 'number') return haveMembersReached(state, target, w, journaled)
  if (w !== 'majority') return haveTagsReached(state, target, modeOf(state.config!, w)!, journaled)
  // Majority reads must see the write too.
  return compareOpTimes(state.committed.optime, target) >= 0 && haveMajorityReached(state, target, journaled)
}

/** The write may be rolled back: another member is, or will be, primary. */
function termFault({ isPrimary, leaderMode, term }: ProtocolState, target: OpTime): CommandError | null {
  const stepped = (reason: string) => new CommandError('PrimarySteppedDown', reason)
  if (!isPrimary) return stepped('Primary stepped down while waiting for replication')
  if (target.term !== term) {
    return stepped(
      `Term changed from ${target.term} to ${term} while waiting for replication, indicating that this node must have stepped down.`,
    )
  }
  return leaderMode === 'attempting-step-down' || leaderMode === 'stepping-down'
    ? stepped('Received stepdown request while waiting for replication')
    : null
}
