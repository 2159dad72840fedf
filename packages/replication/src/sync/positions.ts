/** How far members are, reported along the chain of sync sources. Server: UpdatePositionArgs. */
import { memberAdvanced } from '../heartbeats/send.js'
import { restartElectionTimer } from '../elections/election-timer.js'
import { learnCommitPoint } from '../commit/commit-point.js'
import type { PositionReport, SourceMetadata } from '../messages.js'
import { compareOpTimes, isNullOpTime, nullTimedOpTime, type TimedOpTime } from '../optime.js'
import { checkCatchUp } from '../primary/catch-up.js'
import { tryStepDown } from '../primary/step-down.js'
import type { ProtocolState } from '../state/protocol-state.js'
import { learnTerm } from '../state/term.js'
import { watchSilence } from '../heartbeats/schedule.js'

/** This member's own entries up to here are applied; those up to `durable` are on disk. */
export function ownProgress(state: ProtocolState, applied: TimedOpTime, durable: TimedOpTime): void {
  const { self } = state
  const appliedAdvanced = compareOpTimes(applied.optime, self.applied.optime) > 0
  const durableAdvanced = compareOpTimes(durable.optime, self.durable.optime) > 0
  if (!appliedAdvanced && !durableAdvanced) return
  if (appliedAdvanced) self.applied = applied
  if (durableAdvanced) self.durable = durable
  memberAdvanced(state)
  if (state.catchUp !== null) checkCatchUp(state)
  if (state.stepDown !== null) tryStepDown(state)
  if (appliedAdvanced && applied.optime.term === state.term) state.timers.cancel('catch-up-takeover')
}

/** Entries after this one were rolled back. */
export function rolledBackTo(state: ProtocolState, applied: TimedOpTime): void {
  state.self.applied = applied
  state.self.durable = applied
}

/** Without positions while this member is in no configuration or in initial sync. */
export function positionReport(state: ProtocolState): PositionReport {
  const { config, members, self, term } = state
  if (config === null || state.selfConfig === null || state.memberState === 'STARTUP2') return { term, positions: [] }
  const positions = members
    .filter((view) => !isNullOpTime(view.applied.optime) && (view === self || !view.silent))
    .map(({ id, applied, durable }) => ({ memberId: id, configVersion: config.version, applied, durable }))
  return { term, positions }
}

/** A position is replaced when it changes. */
export function samePositions({ positions: some }: PositionReport, { positions: others }: PositionReport): boolean {
  return (
    some.length === others.length &&
    some.every(({ memberId, configVersion, applied, durable }, i) => {
      const other = others[i]!
      const isSameMember = memberId === other.memberId && configVersion === other.configVersion
      return isSameMember && applied === other.applied && durable === other.durable
    })
  )
}

/** @returns false: a member is not in this configuration */
export function positionsReceived(state: ProtocolState, { term, positions }: PositionReport): boolean {
  if (state.selfConfig === null) return false
  learnTerm(state, term)
  let advanced = false
  let known = true
  for (const { memberId, applied, durable } of positions) {
    const view = state.members.find(({ id }) => id === memberId)
    if (view === undefined) known = false
    else if (view !== state.self) {
      const isArbiter = state.configOf(view).arbiterOnly
      if (view.advance({ applied, durable: isArbiter ? nullTimedOpTime : durable }, state.nowMs)) advanced = true
    }
  }
  watchSilence(state)
  if (advanced) memberAdvanced(state)
  return known
}

/** A member in this term reads the oplog from here. */
export function readerRequested(state: ProtocolState, term: number): void {
  learnTerm(state, term)
}

/** With each batch from the sync source, empty or not. */
export function sourceReplied(state: ProtocolState, metadata: SourceMetadata): void {
  learnTerm(state, metadata.term)
  learnCommitPoint(state, metadata.committed, true)
  if (metadata.primaryIndex !== -1 && metadata.term === state.term) restartElectionTimer(state)
}
