import { StepFailedError, type Address } from '@shardlab/actor'

/** What happens to an actor that reaches an armed step. */
export type StepFaultAction = 'hold' | 'fail' | 'crash'

/** A fault armed at a step; plain data. */
export interface StepFault {
  readonly id: number
  readonly step: string
  readonly action: StepFaultAction
  /** null: every member. */
  readonly address: Address | null
  /** null: until healed. */
  readonly times: number | null
}

interface ArmedFault {
  readonly fault: StepFault
  timesLeft: number
  readonly held: (() => void)[]
}

/** The step faults that one host knows. While none is armed, {@link active} is false and reaching a step costs nothing. */
export class StepFaults {
  active = false
  readonly #armed = new Map<number, ArmedFault>()
  readonly #onStruck: (id: number, address: Address) => void

  constructor(onStruck: (id: number, address: Address) => void) {
    this.#onStruck = onStruck
  }

  arm(fault: StepFault): void {
    this.#armed.set(fault.id, { fault, timesLeft: fault.times ?? Infinity, held: [] })
    this.active = true
  }

  /** It strikes no more; what it holds stays held. */
  disarm(id: number): void {
    const armed = this.#armed.get(id)
    if (armed !== undefined) armed.timesLeft = 0
  }

  heal(id: number): void {
    const armed = this.#armed.get(id)
    this.#armed.delete(id)
    this.active = this.#armed.size > 0
    if (armed !== undefined) for (const release of armed.held) release()
  }

  /** `crash` is called when the member is to crash; `isAlive` tells whether somebody held may still go on. */
  reach(address: Address, step: string, crash: () => void, isAlive: () => boolean): Promise<void> {
    for (const armed of this.#armed.values()) {
      const { fault } = armed
      if (fault.step !== step || armed.timesLeft === 0 || (fault.address !== null && fault.address !== address)) continue
      armed.timesLeft--
      this.#onStruck(fault.id, address)
      switch (fault.action) {
        case 'hold':
          return new Promise((resolve) => armed.held.push(() => isAlive() && resolve()))
        case 'fail':
          return Promise.reject(new StepFailedError(step))
        case 'crash':
          crash()
          return new Promise(() => {})
      }
    }
    return Promise.resolve()
  }
}
