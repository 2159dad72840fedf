import type { ActorHost } from '../host/actor-host.js'
import { FaultSwitchboard } from '../host/faults/fault-switchboard.js'
import { StepSwitchboard } from '../host/step-switchboard.js'
import type { WorkerFleet } from './worker-fleet.js'

/** Faults at steps reach all workers. */
export function stepSwitchboard(fleet: WorkerFleet): StepSwitchboard {
  return new StepSwitchboard({
    arm: (fault) => fleet.broadcast('arm', [fault]),
    heal: (id) => fleet.broadcast('heal', [id]),
  })
}

/** Other faults reach the supervisor's own thread, too: it sends and receives mail like any host. */
export function faultSwitchboard(fleet: WorkerFleet, { faults }: ActorHost): FaultSwitchboard {
  return new FaultSwitchboard({
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
