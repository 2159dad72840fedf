import type { ActorHost } from '../host/actor-host.js'
import type { HostFault, LinkFault } from '../host/faults/host-fault.js'
import { strikesOf } from '../host/faults/strike-count.js'
import type { ReachedStep, StepFault } from '../host/faults/step-faults.js'
import { FaultRegistry } from '../supervisor/fault-registry.js'
import { StepFaultRegistry } from '../supervisor/step-fault-registry.js'
import type { MachineFleet } from './machine-fleet.js'
import type { FaultScope, SentFault, SentStepFault, StrikeCounts } from './machine-protocol.js'
import type { RemoteMachine } from './remote-machine.js'

type CountedFault = StepFault | LinkFault

/**
 * The faults of all machines. Each machine counts its own strikes and learns those of the others.
 * Several may exceed a limit: of steps within the time of a message, of links within that of a
 * ping.
 */
export class MachineRegistries {
  readonly steps: StepFaultRegistry
  readonly faults: FaultRegistry
  readonly #fleet: MachineFleet
  /** Strikes on a machine since its process began, by fault. */
  readonly #own = new Map<RemoteMachine, Map<string, number>>()

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

  /** Another process of the machine counts from 0. */
  restarted(machine: RemoteMachine): void {
    this.#own.delete(machine)
  }

  struck(machine: RemoteMachine, faultId: number, reached: ReachedStep): void {
    const fault = this.steps.armed().find(({ id }) => id === faultId)
    if (fault !== undefined) this.#count('step', fault, machine, this.#ownOf(machine, 'step', faultId) + 1)
    this.steps.report(faultId, reached)
  }

  /** Strikes of links on the machine. */
  noteStrikes(machine: RemoteMachine, counts: StrikeCounts): void {
    const faults = this.faults.applied()
    for (const [faultId, own] of counts) {
      const fault = faults.find(({ id }) => id === faultId)
      if (fault?.scope === 'link') this.#count('link', fault, machine, own)
    }
  }

  #count(scope: FaultScope, fault: CountedFault, machine: RemoteMachine, own: number): void {
    const more = own - this.#ownOf(machine, scope, fault.id)
    if (more <= 0) return
    const owns = this.#own.get(machine) ?? new Map<string, number>()
    this.#own.set(machine, owns.set(keyOf(scope, fault.id), own))
    Atomics.add(new Int32Array(fault.strikes), 0, more)
    if (fault.times === null) return
    const total = strikesOf(fault.strikes)
    for (const other of this.#fleet.connected()) {
      const others = total - this.#ownOf(other, scope, fault.id)
      if (other !== machine) other.call('noteStrikes', [scope, fault.id, others]).catch(() => {})
    }
  }

  #ownOf(machine: RemoteMachine, scope: FaultScope, faultId: number): number {
    return this.#own.get(machine)?.get(keyOf(scope, faultId)) ?? 0
  }
}

function keyOf(scope: FaultScope, faultId: number): string {
  return `${scope} ${faultId}`
}

function sentStepFault({ strikes, ...fault }: StepFault): SentStepFault {
  return { ...fault, struck: strikesOf(strikes) }
}

function sentFault(fault: HostFault): SentFault {
  if (fault.scope === 'member') return fault
  const { strikes, ...sent } = fault
  return { ...sent, struck: strikesOf(strikes) }
}
