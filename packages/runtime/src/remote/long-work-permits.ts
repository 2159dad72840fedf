import { availableParallelism } from 'node:os'
import type { LongWorkGate } from '../host/time/live-turns.js'

/** Cells of the shared memory. Permits follow. */
const lastClientCell = 0
const clientsSinceCell = 1
const releasesCell = 2
const firstPermitCell = 3

/** For so long after a command of another client, long work needs permits. */
const contendedMs = 200
/** A thread that waits longer continues without a permit. */
const waitMsMax = 100

/** TypeScript's library for ES2023 lacks it. */
type WaitAsync = (
  cells: Int32Array,
  index: number,
  value: number,
  timeoutMs: number,
) => { readonly value: Promise<string> | string }
const { waitAsync } = Atomics as unknown as { readonly waitAsync: WaitAsync }

export function createLongWorkPermits(): SharedArrayBuffer {
  const permits = Math.max(1, availableParallelism() - 1)
  return new SharedArrayBuffer((firstPermitCell + permits) * Int32Array.BYTES_PER_ELEMENT)
}

/**
 * Keeps one core for short commands: while several clients send commands, one thread fewer than
 * there are cores computes long work. A single client's long work uses all cores. Without this, the
 * threads of long operations occupy all cores, and the operating system lets each step of a short
 * command wait for them.
 */
export class LongWorkPermits implements LongWorkGate {
  readonly #cells: Int32Array
  readonly #holder: number
  /** Index of the permit's cell; 0: this thread holds none. */
  #held = 0
  #waitedMs = 0

  /** @param hostId greater than 0, different for each thread */
  constructor(shared: SharedArrayBuffer, hostId: number) {
    this.#cells = new Int32Array(shared)
    this.#holder = hostId
  }

  /** @param client a number that differs between connections, not 0 */
  noteClient(client: number): void {
    const last = Atomics.exchange(this.#cells, lastClientCell, client)
    if (last !== client && last !== 0) Atomics.store(this.#cells, clientsSinceCell, nowMs())
  }

  enter(): boolean {
    if (!this.#isContended() || this.#waitedMs >= waitMsMax) {
      this.#waitedMs = 0
      return true
    }
    for (let cell = firstPermitCell; cell < this.#cells.length; cell++) {
      if (Atomics.compareExchange(this.#cells, cell, 0, this.#holder) !== 0) continue
      this.#held = cell
      this.#waitedMs = 0
      return true
    }
    return false
  }

  leave(): void {
    if (this.#held === 0) return
    this.#free(this.#held)
    this.#held = 0
  }

  async waitForChange(): Promise<void> {
    const from = performance.now()
    const releases = Atomics.load(this.#cells, releasesCell)
    // Freed between the attempt and this call: no further release would wake this thread.
    if (this.#cells.includes(0, firstPermitCell)) return
    const outcome = await waitAsync(this.#cells, releasesCell, releases, waitMsMax).value
    this.#waitedMs += outcome === 'timed-out' ? waitMsMax : performance.now() - from
  }

  /** Frees the permits of a thread that has ended. */
  freeOf(hostId: number): void {
    for (let cell = firstPermitCell; cell < this.#cells.length; cell++)
      if (Atomics.load(this.#cells, cell) === hostId) this.#free(cell)
  }

  #isContended(): boolean {
    const sinceMs = Atomics.load(this.#cells, clientsSinceCell)
    return sinceMs !== 0 && ((nowMs() - sinceMs) | 0) < contendedMs
  }

  #free(cell: number): void {
    Atomics.store(this.#cells, cell, 0)
    Atomics.add(this.#cells, releasesCell, 1)
    Atomics.notify(this.#cells, releasesCell, 1)
  }
}

/** The same on all threads, unlike `performance.now()`. Wraps; never 0. */
function nowMs(): number {
  return Date.now() | 1
}
