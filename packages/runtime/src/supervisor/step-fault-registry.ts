import { createDeferred, type Address, type Deferred } from '@shardlab/actor'
import type { ReachedStep, StepFault, StepFaultAction } from '../host/faults/step-faults.js'
import { createStrikeCount, strikesOf } from '../host/faults/strike-count.js'
import type { StepControls, StepFaultOptions } from '../runtime.js'

/** The promises resolve once every host has armed or healed the fault. */
export interface StepBroadcast {
  arm(fault: StepFault): Promise<void>
  heal(id: number): Promise<void>
}

interface KnownFault {
  readonly fault: StepFault
  readonly struck: Deferred<Address>
  readonly onStruck: ((reached: ReachedStep) => void) | null
  isHealed: boolean
}

/** Numbers the step faults, records their strikes and gives them to new hosts. */
export class StepFaultRegistry implements StepControls {
  readonly #broadcast: StepBroadcast
  readonly #faults = new Map<number, KnownFault>()
  #lastId = 0

  constructor(broadcast: StepBroadcast) {
    this.#broadcast = broadcast
  }

  async arm(step: string, action: StepFaultAction, options: StepFaultOptions = {}): Promise<number> {
    const { addresses = null, times = null, onStruck = null } = options
    const fault: StepFault = { id: ++this.#lastId, step, action, addresses, times, strikes: createStrikeCount() }
    this.#faults.set(fault.id, { fault, struck: createDeferred(), onStruck, isHealed: false })
    await this.#broadcast.arm(fault)
    return fault.id
  }

  async heal(id: number): Promise<void> {
    const known = this.#faults.get(id)
    if (known !== undefined) known.isHealed = true
    await this.#broadcast.heal(id)
    // It could strike until the last host had healed it.
    this.#faults.delete(id)
  }

  struck(id: number): Promise<Address> {
    return this.#faults.get(id)?.struck.promise ?? Promise.reject(new Error(`no step fault has the id ${id}`))
  }

  strikes(id: number): number {
    const known = this.#faults.get(id)
    return known === undefined ? 0 : strikesOf(known.fault.strikes)
  }

  /** Called by the member's host. */
  report(id: number, reached: ReachedStep): void {
    const known = this.#faults.get(id)
    if (known === undefined) return
    known.struck.resolve(reached.address)
    known.onStruck?.(reached)
  }

  armed(): StepFault[] {
    return [...this.#faults.values()].filter(({ isHealed }) => !isHealed).map(({ fault }) => fault)
  }
}
