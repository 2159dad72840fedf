/** A variant as a job: plain data in and out. */
import type { JobCall } from '@shardlab/jobs'
import type { VariantRun } from '../types.js'
import { InterruptedSimulation } from './failure.js'
import type { VariantTask } from './job-kind.js'
import { runVariant } from './run-variant.js'

/** Posts its progress from 0 to 1. @returns null: stopped before its start */
export async function playTask({ input, post, isStopped }: JobCall<VariantTask>): Promise<VariantRun | null> {
  const { scenario, allowCode } = input
  try {
    return await runVariant(scenario, post, { allowCode, isStopped })
  } catch (error) {
    if (error instanceof InterruptedSimulation) return null
    throw error
  }
}
