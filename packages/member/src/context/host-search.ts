const firstPauseMs = 5
const longestPauseMs = 500

/** The search for the primary of a replica set. Server: remote_command_targeter_rs.cpp. */
export class HostSearch {
  readonly #untilMs: number
  #pauseMs = firstPauseMs

  constructor(nowMs: number, findReplicaSetHostTimeoutMs: number) {
    this.#untilMs = nowMs + findReplicaSetHostTimeoutMs
  }

  /** How long to wait before the next attempt; null: the search has ended. */
  nextPauseMs(nowMs: number): number | null {
    if (nowMs >= this.#untilMs) return null
    const pauseMs = Math.min(this.#pauseMs, this.#untilMs - nowMs)
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs)
    return pauseMs
  }
}
