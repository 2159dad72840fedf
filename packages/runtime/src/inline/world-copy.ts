import type { Address } from '@shardlab/actor'
import type { MemoryDisk } from '../disks/memory-disk.js'
import type { ActorCell } from '../host/actor-cell.js'
import type { Member } from '../supervisor/member-table.js'
import type { MemberSpec, MemberState } from '../runtime.js'

/** A timer that was armed. */
export interface TimerCopy {
  readonly name: string
  readonly dueInMs: number
  /** Of two that are due at the same time the lower one wakes first, whosever they are. */
  readonly order: number
}

/** What a running member was. */
export interface ActorCopy {
  /** What {@link Actor.exportState} gave; undefined: the copy is started on the disk. */
  readonly state: unknown
  readonly timers: readonly TimerCopy[]
}

export interface MemberCopy {
  readonly spec: MemberSpec
  readonly state: MemberState
  readonly incarnation: number
  readonly endpoint: string
  /** Changed by nobody: each copy of the member gets a clone. */
  readonly disk: MemoryDisk
  /** Null: it was down. */
  readonly actor: ActorCopy | null
}

/** All members of a world at one moment in which none of them worked on anything. It can be continued any number of times, also at once. */
export interface WorldCopy {
  /** The time of a manual clock; null: the clock is the machine's. */
  readonly nowMicros: number | null
  /** In the order in which they were started. */
  readonly members: readonly MemberCopy[]
}

/** Thrown when a world cannot be copied now. The message is one sentence that says who is in the midst of what. */
export class BusyWorldError extends Error {
  constructor(what: readonly string[]) {
    super(
      `the cluster cannot be copied now: ${what.join('; ')}. Wait until that has ended, or heal what keeps it from going on.`,
    )
    this.name = 'BusyWorldError'
  }
}

/** `cell`: the incarnation that is here; undefined or gone: the member is down. */
export function copyMember(
  { spec, state, incarnation, endpoint, place }: Member<{ readonly disk: MemoryDisk }>,
  cell: ActorCell | undefined,
  nowMs: number,
): MemberCopy {
  return {
    spec,
    state,
    incarnation,
    endpoint,
    disk: place.disk.clone(),
    actor: cell === undefined || cell.gone ? null : copyActor(cell, nowMs),
  }
}

function copyActor(cell: ActorCell, nowMs: number): ActorCopy {
  const timers = [...cell.timers].map(([name, { dueAtMs, order }]) => ({
    name,
    dueInMs: Math.max(0, dueAtMs - nowMs),
    order,
  }))
  return { state: cell.actor?.exportState?.(), timers }
}

/** The timers of all members in the order in which they will wake. */
export function timersInOrder({ members }: WorldCopy): { readonly address: Address; readonly timer: TimerCopy }[] {
  const timers = members.flatMap(({ spec: { address }, actor }) =>
    (actor?.timers ?? []).map((timer) => ({ address, timer })),
  )
  return timers.sort((a, b) => a.timer.dueInMs - b.timer.dueInMs || a.timer.order - b.timer.order)
}
