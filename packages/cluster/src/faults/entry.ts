import type { Alarm } from '@shardlab/runtime'
import type { AppliedFault } from './applied-fault.js'
import type { RunningFault } from './fault-world.js'
import type { FirstStrike } from './first-strike.js'
import { formatFault } from './grammar.js'
import type { ResolvedFault } from './resolve.js'

/** A fault from its application until it is healed. */
export interface Entry {
  readonly id: string
  readonly resolved: ResolvedFault
  readonly beginsAtMs: number
  readonly healsAtMs: number | null
  alarm: Alarm | null
  /** The start has been reached; the fault may still be beginning. */
  begun: boolean
  /** null: not at work yet. */
  running: RunningFault | null
  readonly strike: FirstStrike
}

export function appliedFault({ id, resolved: { spec }, beginsAtMs, healsAtMs, running }: Entry): AppliedFault {
  const strikes = running?.strikes() ?? null
  const isExhausted = 'first' in spec && spec.first !== undefined && strikes !== null && strikes >= spec.first
  const state = running === null ? 'scheduled' : isExhausted ? 'exhausted' : 'active'
  return { id, fault: formatFault(spec), spec, state, beginsAtMs, healsAtMs, strikes }
}
