/** A variant as a task for a worker thread, which takes and gives plain data only. */
import type { MessagePort } from 'node:worker_threads'
import { OptionError } from '@shardlab/cluster'
import type { Scenario } from '../file/parse.js'
import type { VariantRun } from '../types.js'
import { ScenarioError } from './failure.js'
import { runVariant } from './run-variant.js'

export interface VariantTask {
  readonly scenario: Scenario
  /** Hears the progress: numbers from 0 to 1. */
  readonly port: MessagePort
}

/** A class does not survive the way between threads. */
export type TaskOutcome = { readonly run: VariantRun } | { readonly wrong: 'OptionError' | 'ScenarioError'; readonly message: string }

export async function playTask({ scenario, port }: VariantTask): Promise<TaskOutcome> {
  try {
    return { run: await runVariant(scenario, (share) => port.postMessage(share)) }
  } catch (error) {
    if (error instanceof OptionError) return { wrong: 'OptionError', message: error.message }
    if (error instanceof ScenarioError) return { wrong: 'ScenarioError', message: error.message }
    throw error
  } finally {
    port.close()
  }
}

/** @throws OptionError, ScenarioError as the task did */
export function runOf(outcome: TaskOutcome): VariantRun {
  if ('run' in outcome) return outcome.run
  throw outcome.wrong === 'OptionError' ? new OptionError(outcome.message) : new ScenarioError(outcome.message)
}
