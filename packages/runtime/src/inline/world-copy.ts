import type { Address } from '@shardlab/actor'
import type { MemoryDisk } from '../disks/memory-disk.js'
import type { ActorCell } from '../host/actor-cell.js'
import type { MemberSpec, MemberState } from '../runtime.js'
import type { Member } from '../supervisor/member-table.js'

export interface TimerCopy {
  readonly name: string
  readonly dueInMs: number
  /** Of two timers that are due at the same time the lower one wakes first, in all members. */
  readonly order: number
}

export interface ActorCopy {
  /** The result of {@link Actor.exportState}; undefined: start from the disk. */
  readonly state: unknown
  readonly timers: readonly TimerCopy[]
}

export interface MemberCopy {
  readonly spec: MemberSpec
  readonly state: MemberState
  readonly incarnation: number
  readonly endpoint: string
  /** Never written to: each restored member gets a clone. */
  readonly disk: MemoryDisk
  /** Null: the member was down. */
  readonly actor: ActorCopy | null
}

/**
 * A world at a moment in which no member worked on anything. It can be restored any number of
 * times.
 */
export interface WorldCopy {
  /** The time of a manual clock; null: the clock is the machine's. */
  readonly nowMicros: number | null
  /** In the order of their start. */
  readonly members: readonly MemberCopy[]
}

/** The message says which member is doing what. */
export class BusyWorldError extends Error {
  constructor(what: readonly string[]) {
    super(
      `the cluster cannot be copied now: ${what.join('; ')}. Wait until that has ended, or heal the faults that block it.`,
    )
    this.name = 'BusyWorldError'
  }
}

/** @param cell undefined or gone: the member is down */
export function copyMember(
  { spec, state, incarnation, endpoint, place }: Member<{ readonly disk: MemoryDisk }>,
  cell: ActorCell | undefined,
  nowMs: number,
): MemberCopy {
  // Not the TLS settings, which have a password.
  const listen = spec.listen === null ? null : { host: spec.listen.host, port: spec.listen.port }
  return {
    spec: { ...spec, listen },
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

export function timersInOrder({ members }: WorldCopy): { readonly address: Address; readonly timer: TimerCopy }[] {
  const timers = members.flatMap(({ spec: { address }, actor }) =>
    (actor?.timers ?? []).map((timer) => ({ address, timer })),
  )
  return timers.sort((a, b) => a.timer.dueInMs - b.timer.dueInMs || a.timer.order - b.timer.order)
}
