import { createDeferred, type Address, type Deferred } from '@shardlab/actor'
import type { StepControls, StepFaultOptions } from '../runtime.js'
import type { StepFault, StepFaultAction } from './step-faults.js'

/** How the faults reach the hosts of a world; each resolves once every host has acted. */
export interface StepBroadcast {
  arm(fault: StepFault): Promise<void>
  disarm(id: number): Promise<void>
  heal(id: number): Promise<void>
}

interface KnownFault {
  readonly fault: StepFault
  readonly struck: Deferred<Address>
  readonly victims: Set<Address>
  strikes: number
}

/** The supervisor's side of the step faults: it numbers them, counts their strikes and hands them to new hosts. */
export class StepSwitchboard implements StepControls {
  readonly #broadcast: StepBroadcast
  readonly #faults = new Map<number, KnownFault>()
  #lastId = 0

  constructor(broadcast: StepBroadcast) {
    this.#broadcast = broadcast
  }

  async arm(step: string, action: StepFaultAction, options: StepFaultOptions = {}): Promise<number> {
    const fault: StepFault = { id: ++this.#lastId, step, action, address: options.address ?? null, times: options.times ?? null }
    this.#faults.set(fault.id, { fault, struck: createDeferred(), victims: new Set(), strikes: 0 })
    await this.#broadcast.arm(fault)
    return fault.id
  }

  async heal(id: number): Promise<void> {
    this.#faults.delete(id)
    await this.#broadcast.heal(id)
  }

  struck(id: number): Promise<Address> {
    return this.#faults.get(id)?.struck.promise ?? Promise.reject(new Error(`no step fault has the id ${id}`))
  }

  victims(id: number): readonly Address[] {
    return [...(this.#faults.get(id)?.victims ?? [])]
  }

  strikes(id: number): number {
    return this.#faults.get(id)?.strikes ?? 0
  }

  /** A host reports that a fault struck one of its members. */
  report(id: number, address: Address): void {
    const known = this.#faults.get(id)
    if (known === undefined) return
    known.strikes++
    known.struck.resolve(address)
    known.victims.add(address)
    if (known.fault.times !== null && known.strikes >= known.fault.times) void this.#broadcast.disarm(id)
  }

  /** What a host that starts now has to arm. */
  armed(): StepFault[] {
    const faults: StepFault[] = []
    for (const { fault, strikes } of this.#faults.values()) {
      if (fault.times === null) faults.push(fault)
      else if (strikes < fault.times) faults.push({ ...fault, times: fault.times - strikes })
    }
    return faults
  }
}
