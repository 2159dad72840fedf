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

/**
 * A piece of long work waits so long for short commands. One passes through several turns: its
 * router, its shard, its router again. As long as a piece takes, so that both get a half.
 */
const shortWorkMs = 10

/**
 * The ends of the turns of the event loop. All packets and replies leave first. A turn in which
 * nothing left, or in which long work has waited for 10 ms, ends with one piece of it: short
 * commands wait for at most one piece, and several long operations take turns. Between two pieces
 * Node reads sockets and ports.
 */
export class LiveTurns {
  #flushes: (() => void)[] = []
  readonly #waiting: Sleeper[] = []
  #scheduled = false
  readonly #gate: LongWorkGate | null
  readonly #nowMs: () => number
  /** A piece has begun and ends before the next turn does. */
  #isWorking = false
  #workedUntilMs = Number.NEGATIVE_INFINITY
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
    if (this.#isWorking) {
      this.#isWorking = false
      this.#workedUntilMs = this.#nowMs()
    }
    const flushes = this.#flushes
    this.#flushes = []
    for (let i = 0; i < flushes.length; i++) flushes[i]!()
    if (this.#gate !== null) this.#endPiece(this.#gate)
    if (this.#waiting.length === 0 || this.#awaitsGate) return
    if (flushes.length > 0 && this.#nowMs() - this.#workedUntilMs < shortWorkMs) return this.#schedule()
    if (this.#gate !== null && !this.#begin(this.#gate)) return
    this.#isWorking = true
    this.#waiting.shift()!.wake()
    if (this.#waiting.length > 0) this.#schedule()
  }

  #endPiece(gate: LongWorkGate): void {
    if (!this.#isEntered) return
    this.#isEntered = false
    gate.leave()
  }

  #begin(gate: LongWorkGate): boolean {
    this.#isEntered = gate.enter()
    // The piece runs after this callback, and the next one ends it.
    if (this.#isEntered) this.#schedule()
    else {
      this.#awaitsGate = true
      void gate.waitForChange().then(() => {
        this.#awaitsGate = false
        this.#schedule()
      })
    }
    return this.#isEntered
  }
}
