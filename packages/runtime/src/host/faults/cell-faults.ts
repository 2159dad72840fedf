import type { HostClock, Sleeper } from '../time/clock.js'
import type { MemberEffect, MemberFault } from './host-fault.js'

/** What is wrong with one incarnation of one member: its disk, its clock, or that it does nothing. */
export class CellFaults {
  /** Nothing is looked at while this is false. */
  active = false
  readonly #clock: HostClock
  readonly #applied = new Map<number, MemberFault>()
  /** Who would have woken since it was frozen. */
  readonly #postponed: Sleeper[] = []
  #diskBusyUntilMs = 0
  /** When the last of what waits for the disk gets its turn; null: nothing waits. */
  #lastTurn: Promise<void> | null = null
  #lastMs = 0

  constructor(clock: HostClock) {
    this.#clock = clock
  }

  apply(fault: MemberFault): void {
    this.now()
    this.#applied.set(fault.id, fault)
    this.active = true
  }

  heal(id: number): void {
    if (!this.#applied.has(id)) return
    this.now()
    this.#applied.delete(id)
    if (!this.#frozen) for (const sleeper of this.#postponed.splice(0)) sleeper.wake()
  }

  /** The member's own time: it never goes back but by jumps, so a clock that is skewed back stands still for a while. */
  now(): number {
    let nowMs = this.#clock.now()
    let jumpedMs = 0
    for (const { effect } of this.#applied.values()) {
      if (effect.type === 'clock-skew') nowMs += effect.skewMs
      else if (effect.type === 'clock-jump') jumpedMs += effect.jumpMs
    }
    if (nowMs >= this.#lastMs) {
      // Nothing is wrong any more, its clock has caught up and its disk has nothing to do.
      if (this.#applied.size === 0 && this.#lastTurn === null && this.#diskBusyUntilMs <= nowMs) this.active = false
      this.#lastMs = nowMs
    }
    return this.#lastMs + jumpedMs
  }

  /** Is the member frozen? Then it is woken when it is healed. */
  defersWake(sleeper: Sleeper): boolean {
    if (!this.#frozen) return false
    this.#postponed.push(sleeper)
    return true
  }

  /** Has the disk no room for anything that has not been accepted yet? */
  get diskIsFull(): boolean {
    return this.#has('full-disk')
  }

  /** Writes to the disk as slowly as it is now, and not before what waits already. */
  async write(write: () => Promise<void>): Promise<void> {
    const delayMs = this.#writeDelayMs()
    if (delayMs > 0 || this.#lastTurn !== null) {
      const turn = this.#turnAfter(this.#lastTurn, delayMs)
      this.#lastTurn = turn
      await turn
      if (this.#lastTurn === turn) this.#lastTurn = null
    }
    return write()
  }

  // Delays alone keep no order: they are counted in milliseconds, and begin between them.
  async #turnAfter(earlier: Promise<void> | null, delayMs: number): Promise<void> {
    if (delayMs > 0) await new Promise<void>((resolve) => this.#clock.alarm(delayMs, resolve))
    await earlier
  }

  #writeDelayMs(): number {
    const now = this.#clock.now()
    for (const { effect } of this.#applied.values()) {
      if (effect.type === 'slow-disk') this.#diskBusyUntilMs = Math.max(this.#diskBusyUntilMs, now) + effect.perAppendMs
    }
    return this.#diskBusyUntilMs - now
  }

  get #frozen(): boolean {
    return this.#has('freeze')
  }

  #has(type: MemberEffect['type']): boolean {
    if (this.#applied.size === 0) return false
    for (const { effect } of this.#applied.values()) if (effect.type === type) return true
    return false
  }
}
