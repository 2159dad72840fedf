/** Attempts of a heartbeat after the first one. Server: kMaxHeartbeatRetries. */
const retriesMax = 2

/**
 * Round trips of the heartbeats to one member. A heartbeat is tried again until it succeeds, has
 * failed three times, or its time-out has passed. Server: TopologyCoordinator::PingStats.
 */
export class PingStatistics {
  #state: 'idle' | 'trying' | 'succeeded' | 'failed' = 'idle'
  #failures = 0
  startedAtMs = 0
  /** Null: no reply so far. */
  averageMs: number | null = null

  get trying(): boolean {
    return this.#state === 'trying'
  }

  get failed(): boolean {
    return this.#state === 'failed'
  }

  start(nowMs: number): void {
    this.startedAtMs = nowMs
    this.#failures = 0
    this.#state = 'trying'
  }

  succeeded(roundTripMs: number): void {
    this.#state = 'succeeded'
    this.averageMs = this.averageMs === null ? roundTripMs : Math.trunc((this.averageMs * 4 + roundTripMs) / 5)
  }

  missed(): void {
    this.#failures++
    if (this.#failures > retriesMax) this.#state = 'failed'
  }
}
