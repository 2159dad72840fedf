import type { ActorHost } from '../host/actor-host.js'
import { FaultRegistry } from '../supervisor/fault-registry.js'
import { StepFaultRegistry } from '../supervisor/step-fault-registry.js'
import type { WorkerFleet } from './worker-fleet.js'

export function stepFaultRegistry(fleet: WorkerFleet): StepFaultRegistry {
  return new StepFaultRegistry({
    arm: (fault) => fleet.broadcast('arm', [fault]),
    heal: (id) => fleet.broadcast('heal', [id]),
  })
}

/** Includes the supervisor's own thread, which sends and receives messages as every host does. */
export function faultRegistry(fleet: WorkerFleet, { faults }: ActorHost): FaultRegistry {
  return new FaultRegistry({
    apply: (fault) => {
      faults.apply(fault)
      return fleet.broadcast('applyFault', [fault])
    },
    heal: (id) => {
      faults.heal(id)
      return fleet.broadcast('healFault', [id])
    },
  })
}
