import { namedSteps } from '@shardlab/actor'
import { faultVerbs, parseFaultText, type ReachedStep, type SimulatedCluster } from '@shardlab/cluster'
import type { Counts } from './types.js'

export class CoverageCounter {
  readonly #steps = new Map<string, number>()
  readonly #verbs = new Map<string, number>()

  get steps(): Counts {
    return Object.fromEntries(this.#steps)
  }

  get verbs(): Counts {
    return Object.fromEntries(this.#verbs)
  }

  /** @param onStep called when a member passes a step */
  async watch(cluster: SimulatedCluster, onStep: (reached: ReachedStep) => void): Promise<void> {
    cluster.onEvent((event) => {
      if (event.type === 'fault-applied') add(this.#verbs, String(parseFaultText(event.fault)['verb']))
    })
    for (const step of namedSteps)
      await cluster.steps.arm(step, 'note', {
        onStruck: (reached) => {
          add(this.#steps, step)
          onStep(reached)
        },
      })
  }
}

/** Includes names that were never reached. */
export function allCounted(sum: ReadonlyMap<string, number>, names: readonly string[]): Counts {
  return Object.fromEntries(names.map((name) => [name, sum.get(name) ?? 0]))
}

export const coveredNames = { steps: namedSteps, verbs: faultVerbs } as const

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
