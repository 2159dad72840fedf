import type { FaultBroadcast, HostFault, NewHostFault } from '../host/faults/host-fault.js'
import { createStrikeCount, strikesOf } from '../host/faults/strike-count.js'
import type { FaultControls } from '../runtime.js'

/** Numbers the faults of links and members, and gives them to new hosts. */
export class FaultRegistry implements FaultControls {
  readonly #broadcast: FaultBroadcast
  readonly #faults = new Map<number, HostFault>()
  #lastId = 0

  constructor(broadcast: FaultBroadcast) {
    this.#broadcast = broadcast
  }

  async apply(fault: NewHostFault): Promise<number> {
    const id = ++this.#lastId
    const numbered: HostFault =
      fault.scope === 'link' ? { ...fault, id, strikes: createStrikeCount() } : { ...fault, id }
    this.#faults.set(id, numbered)
    await this.#broadcast.apply(numbered)
    return id
  }

  async heal(id: number): Promise<void> {
    if (this.#faults.delete(id)) await this.#broadcast.heal(id)
  }

  strikes(id: number): number {
    const fault = this.#faults.get(id)
    return fault?.scope === 'link' ? strikesOf(fault.strikes) : 0
  }

  applied(): HostFault[] {
    return [...this.#faults.values()]
  }
}
