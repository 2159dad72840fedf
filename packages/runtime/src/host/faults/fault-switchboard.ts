import type { FaultControls } from '../../runtime.js'
import type { FaultBroadcast, HostFault, NewHostFault } from './host-fault.js'

interface KnownFault {
  readonly fault: HostFault
  strikes: number
}

/** The supervisor's side of the faults of links and members: it numbers them, counts limited ones and hands them to new hosts. */
export class FaultSwitchboard implements FaultControls {
  readonly #broadcast: FaultBroadcast
  readonly #faults = new Map<number, KnownFault>()
  #lastId = 0

  constructor(broadcast: FaultBroadcast) {
    this.#broadcast = broadcast
  }

  async apply(fault: NewHostFault): Promise<number> {
    const numbered: HostFault = { ...fault, id: ++this.#lastId }
    this.#faults.set(numbered.id, { fault: numbered, strikes: 0 })
    await this.#broadcast.apply(numbered)
    return numbered.id
  }

  async heal(id: number): Promise<void> {
    if (this.#faults.delete(id)) await this.#broadcast.heal(id)
  }

  strikes(id: number): number {
    return this.#faults.get(id)?.strikes ?? 0
  }

  /** A host reports that a limited fault has struck. */
  report(id: number): void {
    const known = this.#faults.get(id)
    if (known === undefined) return
    known.strikes++
    const { times } = known.fault as { times?: number | null }
    if (typeof times === 'number' && known.strikes >= times) void this.#broadcast.exhaust(id)
  }

  /** What a host that starts now has to apply. */
  applied(): HostFault[] {
    return [...this.#faults.values()].map(({ fault, strikes }) =>
      fault.scope === 'link' && fault.times !== null ? { ...fault, times: Math.max(0, fault.times - strikes) } : fault,
    )
  }
}
