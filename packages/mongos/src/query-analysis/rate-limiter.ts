/** Lets so many queries a second pass, and a burst of them after a pause. Server: SampleRateLimiter of query_analysis_sampler.cpp. */

/** So much less than a whole token is a token. */
const epsilon = 0.001

export class RateLimiter {
  readonly uuid: Uint8Array
  readonly #burstMultiplier: () => number
  #tokensPerSecond: number
  #tokens = 0
  #refilledAtMs: number

  /** @param burstMultiplier seconds' worth of tokens that can be saved up */
  constructor(uuid: Uint8Array, tokensPerSecond: number, nowMs: number, burstMultiplier: () => number) {
    this.uuid = uuid
    this.#tokensPerSecond = tokensPerSecond
    this.#refilledAtMs = nowMs
    this.#burstMultiplier = burstMultiplier
  }

  /** Takes a token, if there is one. */
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

  /** Another rate from now on; what the old one gave until now stays, as far as the new one allows. */
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
