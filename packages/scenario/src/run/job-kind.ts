import { setFlagsFromString } from 'node:v8'
import type { JobKind } from '@shardlab/jobs'
import type { Scenario } from '../file/parse.js'
import type { VariantRun } from '../types.js'

/** A variant as a job. */
export interface VariantTask {
  readonly scenario: Scenario
  readonly allowCode: boolean
}

/**
 * With so many shards, most objects in progress would outlive a young generation of default size.
 */
const largeFromShards = 100
/** In MiB. */
const largeSemiSpace = 128
/** Flags for large worlds, with their defaults. */
const largeFlags = [
  // The long-lived objects of a large world make the engine allocate later garbage of the same
  // functions among old objects.
  ['--no-allocation-site-pretenuring', '--allocation-site-pretenuring'],
  // A young generation that grows to its size is copied at each step.
  [`--min-semi-space-size=${largeSemiSpace}`, '--min-semi-space-size=0'],
  // Hundreds of members run the same step in a row: compact code stays in the processor's cache.
  ['--max-inlined-bytecode-size-cumulative=400', '--max-inlined-bytecode-size-cumulative=920'],
] as const

/** It needs a thread, with other engine flags. */
export const isLarge = ({ cluster }: Scenario): boolean => cluster.shards >= largeFromShards

/** @param allowCode the process runs modules of policies that come with jobs */
export function variantJobs({ allowCode }: { readonly allowCode: boolean }): JobKind<VariantTask, VariantRun | null> {
  return {
    name: 'variant',
    module: new URL('./variant.worker.js', import.meta.url).href,
    limitsOf: ({ scenario }) => (isLarge(scenario) ? { maxYoungGenerationSizeMb: 3 * largeSemiSpace } : {}),
    prepare({ scenario }) {
      if (!isLarge(scenario)) return () => {}
      for (const [large] of largeFlags) setFlagsFromString(large)
      return () => {
        // Compiled code is rejected while flags differ.
        for (const [, usual] of largeFlags) setFlagsFromString(usual)
      }
    },
    refusal: ({ scenario: { policy } }) =>
      policy === undefined || allowCode
        ? null
        : 'the scenario has a policy of its own, and workers run its module only with --allow-code',
  }
}
