import type { Sleeper } from './clock.js'

/** Decides when this thread may compute long work. */
export interface LongWorkGate {
  /** Whether a piece of long work may begin; then {@link leave} follows. */
  enter(): boolean
  /** The piece has ended. Without effect if none has begun. */
  leave(): void
  /** Resolves when {@link enter} may succeed. */
  waitForChange(): Promise<void>
}

/** Packets and replies delay the next piece of long work by this time at most. */
const delayMsMax = 10

/**
 * The ends of the turns of the event loop. All packets and replies leave first. A turn in which
 * nothing left ends with one piece of long work. A short command needs several turns (its router,
 * its shard, its router again), so it waits for one piece at most. Packets and replies delay the
 * next piece for as long as the last one took, so that each side gets half of the thread. Several
 * long operations take turns; between two pieces Node reads sockets and ports.
 */
export class LiveTurns {
  #flushes: (() => void)[] = []
  readonly #waiting: Sleeper[] = []
  #scheduled = false
  readonly #gate: LongWorkGate | null
  readonly #nowMs: () => number
  /** Of a piece, which ends before the next turn does. Null: none has begun. */
  #beganMs: number | null = null
  #delayedUntilMs = Number.NEGATIVE_INFINITY
  #isEntered = false
  #awaitsGate = false

  /** @param gate null: long work of this thread never waits for that of other threads */
  constructor(gate: LongWorkGate | null = null, nowMs: () => number = () => performance.now()) {
    this.#gate = gate
    this.#nowMs = nowMs
  }

  /** Whether long work waits for a turn. */
  get busy(): boolean {
    return this.#waiting.length > 0
  }

  readonly atEndOfTurn = (flush: () => void): void => {
    this.#flushes.push(flush)
    this.#schedule()
  }

  readonly nextTurn = (sleeper: Sleeper): void => {
    this.#waiting.push(sleeper)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(this.#end)
  }

  readonly #end = (): void => {
    this.#scheduled = false
    if (this.#beganMs !== null) {
      const nowMs = this.#nowMs()
      this.#delayedUntilMs = nowMs + Math.min(delayMsMax, nowMs - this.#beganMs)
      this.#beganMs = null
    }
    const flushes = this.#flushes
    this.#flushes = []
    for (let i = 0; i < flushes.length; i++) flushes[i]!()
    if (this.#gate !== null) this.#endPiece(this.#gate)
    if (this.#waiting.length === 0 || this.#awaitsGate) return
    if (flushes.length > 0 && this.#nowMs() < this.#delayedUntilMs) return this.#schedule()
    if (this.#gate !== null && !this.#begin(this.#gate)) return
    this.#beganMs = this.#nowMs()
    this.#waiting.shift()!.wake()
    this.#schedule()
  }

  #endPiece(gate: LongWorkGate): void {
    if (!this.#isEntered) return
    this.#isEntered = false
    gate.leave()
  }

  #begin(gate: LongWorkGate): boolean {
    this.#isEntered = gate.enter()
    if (!this.#isEntered) {
      this.#awaitsGate = true
      void gate.waitForChange().then(() => {
        this.#awaitsGate = false
        this.#schedule()
      })
    }
    return this.#isEntered
  }
}
