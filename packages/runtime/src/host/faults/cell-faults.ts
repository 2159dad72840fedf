import type { HostClock, Sleeper } from '../time/clock.js'
import type { MemberEffect, MemberFault } from './host-fault.js'

/** Faults of a member's disk or clock, or a freeze. */
export class CellFaults {
  /** While false, callers skip this object. */
  active = false
  readonly #clock: HostClock
  readonly #applied = new Map<number, MemberFault>()
  /** Wake-ups that were due while the member was frozen. */
  readonly #postponed: Sleeper[] = []
  #diskBusyUntilMs = 0
  /** Resolves when the last queued write may start; null: none is queued. */
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

  /**
   * The member's own time. Only clock jumps set it back: a clock that is skewed back stands still
   * for a while.
   */
  now(): number {
    let nowMs = this.#clock.now()
    let jumpedMs = 0
    for (const { effect } of this.#applied.values()) {
      if (effect.type === 'clock-skew') nowMs += effect.skewMs
      else if (effect.type === 'clock-jump') jumpedMs += effect.jumpMs
    }
    if (nowMs >= this.#lastMs) {
      // No fault is left, the clock has caught up and the disk is idle.
      if (this.#applied.size === 0 && this.#lastTurn === null && this.#diskBusyUntilMs <= nowMs) this.active = false
      this.#lastMs = nowMs
    }
    return this.#lastMs + jumpedMs
  }

  /** @returns whether the member is frozen; if so, the sleeper is woken when the fault is healed */
  defersWake(sleeper: Sleeper): boolean {
    if (!this.#frozen) return false
    this.#postponed.push(sleeper)
    return true
  }

  /** Records that the disk has accepted are still written. */
  get diskIsFull(): boolean {
    return this.#has('full-disk')
  }

  /** Waits for the disk's delay, after earlier writes. */
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

  // Delays alone would not keep the order: they last whole milliseconds, but writes begin at
  // fractions of one.
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
