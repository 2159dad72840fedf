import type { ActorHost } from '../host/actor-host.js'
import type { HostFault } from '../host/faults/host-fault.js'
import { countStrike, strikesOf } from '../host/faults/strike-count.js'
import type { ReachedStep, StepFault } from '../host/faults/step-faults.js'
import { FaultRegistry } from '../supervisor/fault-registry.js'
import { StepFaultRegistry } from '../supervisor/step-fault-registry.js'
import type { MachineFleet } from './machine-fleet.js'
import type { SentFault, SentStepFault } from './machine-protocol.js'

/**
 * The faults of all machines. Each machine counts its own strikes and tells them, so two machines
 * may exceed a limit of strikes within the time of a message.
 */
export class MachineRegistries {
  readonly steps: StepFaultRegistry
  readonly faults: FaultRegistry
  readonly #fleet: MachineFleet

  constructor(fleet: MachineFleet, host: ActorHost) {
    this.#fleet = fleet
    this.steps = new StepFaultRegistry({
      arm: (fault) => fleet.broadcast('arm', [sentStepFault(fault)]),
      heal: (id) => fleet.broadcast('heal', [id]),
    })
    this.faults = new FaultRegistry({
      apply: (fault) => {
        host.faults.apply(fault)
        return fleet.broadcast('applyFault', [sentFault(fault)])
      },
      heal: (id) => {
        host.faults.heal(id)
        return fleet.broadcast('healFault', [id])
      },
    })
  }

  sent(): { readonly steps: readonly SentStepFault[]; readonly faults: readonly SentFault[] } {
    return { steps: this.steps.armed().map(sentStepFault), faults: this.faults.applied().map(sentFault) }
  }

  struck(faultId: number, reached: ReachedStep): void {
    const fault = this.steps.armed().find(({ id }) => id === faultId)
    if (fault !== undefined) {
      countStrike(fault.strikes, null)
      if (fault.times !== null) void this.#fleet.broadcast('noteStrikes', [faultId, strikesOf(fault.strikes)])
    }
    this.steps.report(faultId, reached)
  }

  /** Adds up what the machines have told. */
  sumStrikes(): void {
    for (const fault of this.faults.applied()) {
      if (fault.scope !== 'link') continue
      const counts = this.#fleet.connected().map(({ strikes }) => strikes.find(([id]) => id === fault.id)?.[1] ?? 0)
      Atomics.store(
        new Int32Array(fault.strikes),
        0,
        counts.reduce((sum, count) => sum + count, 0),
      )
    }
  }
}

function sentStepFault({ strikes: _strikes, ...fault }: StepFault): SentStepFault {
  return fault
}

function sentFault(fault: HostFault): SentFault {
  if (fault.scope === 'member') return fault
  const { strikes: _strikes, ...sent } = fault
  return sent
}
