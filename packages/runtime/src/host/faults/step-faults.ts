import { StepFailedError, type Address, type StepDetail } from '@shardlab/actor'
import { countStrike, type StrikeCount } from './strike-count.js'

/** `note`: only counts the strike. */
export type StepFaultAction = 'hold' | 'fail' | 'crash' | 'note'

export interface StepFault {
  readonly id: number
  readonly step: string
  readonly action: StepFaultAction
  /** null: every member. */
  readonly addresses: readonly Address[] | null
  /** The limit of strikes on all members together; null: until healed. */
  readonly times: number | null
  readonly strikes: StrikeCount
}

/** A step of a member, at which a fault may strike. */
export interface ReachedStep {
  readonly address: Address
  readonly step: string
  readonly detail: StepDetail
}

interface ArmedFault {
  readonly fault: StepFault
  readonly held: (() => void)[]
}

/** While no fault is armed, {@link active} is false and callers skip this object. */
export class StepFaults {
  active = false
  readonly #armed = new Map<number, ArmedFault>()
  readonly #onStruck: (id: number, reached: ReachedStep) => void

  constructor(onStruck: (id: number, reached: ReachedStep) => void) {
    this.#onStruck = onStruck
  }

  arm(fault: StepFault): void {
    this.#armed.set(fault.id, { fault, held: [] })
    this.active = true
  }

  heal(id: number): void {
    const armed = this.#armed.get(id)
    this.#armed.delete(id)
    this.active = this.#armed.size > 0
    if (armed !== undefined) for (const release of armed.held) release()
  }

  /** @param isAlive whether a held member may resume */
  reach(reached: ReachedStep, crash: () => void, isAlive: () => boolean): Promise<void> {
    const { address, step } = reached
    for (const armed of this.#armed.values()) {
      const { fault } = armed
      if (
        fault.step !== step ||
        fault.addresses?.includes(address) === false ||
        !countStrike(fault.strikes, fault.times)
      )
        continue
      this.#onStruck(fault.id, reached)
      switch (fault.action) {
        case 'note':
          continue
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
