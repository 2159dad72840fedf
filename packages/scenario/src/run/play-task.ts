/** A task for a worker thread: plain data in and out. */
import type { MessagePort } from 'node:worker_threads'
import { OptionError } from '@shardlab/cluster'
import type { Scenario } from '../file/parse.js'
import type { VariantRun } from '../types.js'
import { InterruptedSimulation, ScenarioError } from './failure.js'
import { runVariant } from './run-variant.js'

export interface VariantTask {
  readonly scenario: Scenario
  readonly allowCode: boolean
  /** Receives progress from 0 to 1. */
  readonly port: MessagePort
  /** Non-zero: stop early. */
  readonly stopped: Int32Array
}

/** Plain data, because classes do not survive the transfer between threads. */
export type TaskOutcome =
  | { readonly run: VariantRun | null }
  | { readonly wrong: 'OptionError' | 'ScenarioError'; readonly message: string }

export async function playTask({ scenario, allowCode, port, stopped }: VariantTask): Promise<TaskOutcome> {
  try {
    const isStopped = (): boolean => Atomics.load(stopped, 0) !== 0
    return { run: await runVariant(scenario, (share) => port.postMessage(share), { allowCode, isStopped }) }
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
 * @returns null: stopped before its start
 * @throws OptionError, ScenarioError of the task
 */
export function runOf(outcome: TaskOutcome): VariantRun | null {
  if ('run' in outcome) return outcome.run
  throw outcome.wrong === 'OptionError' ? new OptionError(outcome.message) : new ScenarioError(outcome.message)
}
