import type { ActorHost } from '../host/actor-host.js'
import { FaultRegistry } from './fault-registry.js'
import { StepFaultRegistry } from './step-fault-registry.js'

/** `hosts` returns the present hosts. */
export function localRegistries(hosts: () => readonly ActorHost[]): {
  readonly steps: StepFaultRegistry
  readonly faults: FaultRegistry
} {
  return {
    steps: new StepFaultRegistry({
      arm: async (fault) => hosts().forEach(({ steps }) => steps.arm(fault)),
      heal: async (id) => hosts().forEach(({ steps }) => steps.heal(id)),
    }),
    faults: new FaultRegistry({
      apply: async (fault) => hosts().forEach(({ faults }) => faults.apply(fault)),
      heal: async (id) => hosts().forEach(({ faults }) => faults.heal(id)),
    }),
  }
}
