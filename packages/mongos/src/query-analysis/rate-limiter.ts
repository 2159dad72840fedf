/**
 * A token bucket: limits queries per second and allows a burst after a pause. Server:
 * SampleRateLimiter of query_analysis_sampler.cpp.
 */

/** A fraction of a token that is this close to 1 counts as a whole one. */
const epsilon = 0.001

export class RateLimiter {
  readonly uuid: Uint8Array
  readonly #burstMultiplier: () => number
  #tokensPerSecond: number
  #tokens = 0
  #refilledAtMs: number

  /** @param burstMultiplier size of the bucket, in seconds of the rate */
  constructor(uuid: Uint8Array, tokensPerSecond: number, nowMs: number, burstMultiplier: () => number) {
    this.uuid = uuid
    this.#tokensPerSecond = tokensPerSecond
    this.#refilledAtMs = nowMs
    this.#burstMultiplier = burstMultiplier
  }

  tryConsume(nowMs: number): boolean {
    this.#refill(nowMs, this.#tokensPerSecond)
    if (this.#tokens >= 1) {
      this.#tokens -= 1
      return true
    }
    if (Math.abs(this.#tokens - 1) > epsilon) return false
    this.#tokens = 0
    return true
  }

  /** Keeps the tokens that were earned at the old rate, up to the new capacity. */
  setRate(tokensPerSecond: number, nowMs: number): void {
    this.#refill(nowMs, tokensPerSecond)
    this.#tokensPerSecond = tokensPerSecond
  }

  #refill(nowMs: number, rateOfCapacity: number): void {
    if (this.#tokensPerSecond === 0 || nowMs <= this.#refilledAtMs) return
    const capacity = Math.max(1, this.#burstMultiplier() * rateOfCapacity)
    const earned = ((nowMs - this.#refilledAtMs) / 1000) * this.#tokensPerSecond
    this.#tokens = Math.min(capacity, earned + this.#tokens)
    this.#refilledAtMs = nowMs
  }
}
