/** A variant as a task for a worker thread, which takes and gives plain data only. */
import type { MessagePort } from 'node:worker_threads'
import { OptionError } from '@shardlab/cluster'
import type { Scenario } from '../file/parse.js'
import type { VariantRun } from '../types.js'
import { InterruptedSimulation, ScenarioError } from './failure.js'
import { runVariant } from './run-variant.js'

export interface VariantTask {
  readonly scenario: Scenario
  /** Hears the progress: numbers from 0 to 1. */
  readonly port: MessagePort
  /** Not zero: it is to end before its time. */
  readonly stopped: Int32Array
}

/** A class does not survive the way between threads. */
export type TaskOutcome =
  | { readonly run: VariantRun | null }
  | { readonly wrong: 'OptionError' | 'ScenarioError'; readonly message: string }

export async function playTask({ scenario, port, stopped }: VariantTask): Promise<TaskOutcome> {
  try {
    const isStopped = (): boolean => Atomics.load(stopped, 0) !== 0
    return { run: await runVariant(scenario, (share) => port.postMessage(share), { isStopped }) }
  } catch (error) {
    if (error instanceof InterruptedSimulation) return { run: null }
    if (error instanceof OptionError) return { wrong: 'OptionError', message: error.message }
    if (error instanceof ScenarioError) return { wrong: 'ScenarioError', message: error.message }
    throw error
  } finally {
    port.close()
  }
}

/**
 * @returns null: it was stopped before its beginning
 * @throws OptionError, ScenarioError as the task did
 */
export function runOf(outcome: TaskOutcome): VariantRun | null {
  if ('run' in outcome) return outcome.run
  throw outcome.wrong === 'OptionError' ? new OptionError(outcome.message) : new ScenarioError(outcome.message)
}
