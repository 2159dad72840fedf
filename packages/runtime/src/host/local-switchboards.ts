import type { ActorHost } from './actor-host.js'
import { FaultSwitchboard } from './faults/fault-switchboard.js'
import { StepSwitchboard } from './step-switchboard.js'

/** The switchboards of a world whose hosts are in one thread. `hosts`: those that are there now. */
export function localSwitchboards(hosts: () => readonly ActorHost[]): {
  readonly steps: StepSwitchboard
  readonly faults: FaultSwitchboard
} {
  return {
    steps: new StepSwitchboard({
      arm: async (fault) => hosts().forEach(({ steps }) => steps.arm(fault)),
      heal: async (id) => hosts().forEach(({ steps }) => steps.heal(id)),
    }),
    faults: new FaultSwitchboard({
      apply: async (fault) => hosts().forEach(({ faults }) => faults.apply(fault)),
      heal: async (id) => hosts().forEach(({ faults }) => faults.heal(id)),
    }),
  }
}
