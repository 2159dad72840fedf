import type { ProtocolParts } from './protocol-parts.js'
import type { SetWaits } from './set-waits.js'

/** Elections at once, instead of after the election timeout: in a new set, and in a copied one. */
export class Campaign {
  readonly #set: ProtocolParts
  readonly #waits: SetWaits
  #isOn = false

  constructor(set: ProtocolParts, waits: SetWaits) {
    this.#set = set
    this.#waits = waits
  }

  /**
   * Resolves when a primary accepts writes, or this member knows another one; or when the time is
   * over.
   * @param campaigns this member runs for election until then
   */
  async untilPrimary({ campaigns, timeoutMs }: { campaigns: boolean; timeoutMs: number | null }): Promise<void> {
    this.#isOn = campaigns
    this.#set.carryOut()
    await this.#waits.within(timeoutMs, () => (this.#hasPrimary ? true : null))
    this.#isOn = false
  }

  get #hasPrimary(): boolean {
    const { state, isWritablePrimary } = this.#set.coordinator
    return state.primary !== null && (!state.isPrimary || isWritablePrimary)
  }

  /** @returns whether an election began, which has effects */
  beginsElection(): boolean {
    if (!this.#isOn) return false
    const { coordinator, nowMs } = this.#set
    if (coordinator.state.primary !== null) this.#isOn = false
    else if (!coordinator.isCandidate)
      return coordinator.stepUp(nowMs, 'stepUpRequestSkipDryRun').length === 0 && coordinator.isCandidate
    return false
  }
}
