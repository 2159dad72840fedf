import { availableParallelism } from 'node:os'
import { OptionError } from '@shardlab/cluster'
import { callerQueue, threadQueue, type JobQueue } from '@shardlab/jobs'
import type { ScenarioFile } from '../file/parse.js'
import { checkCode } from '../policy/check-code.js'
import type { ScenarioReport, SimulationProgress, VariantRun } from '../types.js'
import { ScenarioError } from './failure.js'
import { isLarge, variantJobs, type VariantTask } from './job-kind.js'
import { playTask } from './play-task.js'

type VariantQueue = JobQueue<VariantTask, VariantRun | null>

export interface RunScenarioOptions {
  /** Running variants end at their next look at the cluster. */
  readonly stop?: AbortSignal
  /** Scenarios may run the modules of their policies. Default false. */
  readonly allowCode?: boolean
  /**
   * Where variants are played instead of here. `parameters` are what they have in common.
   */
  readonly queue?: (parameters: string) => Promise<VariantQueue>
}

/**
 * Plays the variants in parallel on worker threads, or in a queue.
 * @returns a run per variant in the order of the file; none for those stopped before their start
 * @throws OptionError for an unreadable file of key values, and for a policy that is not allowed
 * @throws ScenarioError if a cluster cannot be set up as the scenario says
 */
export async function runScenario(
  file: ScenarioFile,
  onProgress: (progress: SimulationProgress) => void = () => {},
  { stop, allowCode = false, queue: open }: RunScenarioOptions = {},
): Promise<VariantRun[]> {
  const { variants } = file
  for (const variant of variants) checkCode(variant, allowCode)
  if (stop?.aborted === true) return []
  const shares = variants.map(() => 0)
  const note = (i: number, share: number): void => {
    shares[i] = share
    onProgress({ variant: variants[i]!.name, share: shares.reduce((sum, each) => sum + each, 0) / variants.length })
  }
  const queue = open === undefined ? queueHere(file) : await open(JSON.stringify({ variants, allowCode }))
  const onStop = (): void => {
    queue.stop()
    void queue.withdraw()
  }
  stop?.addEventListener('abort', onStop)
  const runs: (VariantRun | null)[] = variants.map(() => null)
  let next = 0
  const playAll = async (): Promise<void> => {
    while (next < variants.length && stop?.aborted !== true) {
      const i = next++
      const input = { scenario: variants[i]!, allowCode }
      runs[i] = await queue.run({ key: String(i), input, onMessage: (share) => note(i, Number(share)) })
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(variants.length, queue.depth) }, playAll))
    return runs.filter((run) => run !== null)
  } catch (error) {
    throw ownError(error)
  } finally {
    stop?.removeEventListener('abort', onStop)
    await queue.end()
  }
}

function queueHere({ variants }: ScenarioFile): VariantQueue {
  const threads = Math.min(variants.length, availableParallelism())
  // A thread would load all modules again.
  if (threads === 1 && !variants.some(isLarge)) return callerQueue(playTask)
  return threadQueue(variantJobs({ allowCode: true }), threads)
}

/** Errors of threads and machines have only their name. */
function ownError(error: unknown): unknown {
  const { name, message } = error as Error
  if (name === 'OptionError' || name === 'JobLostError') return new OptionError(message)
  if (name === 'ScenarioError') return new ScenarioError(message)
  return error
}

export function reportOf(file: ScenarioFile, runs: readonly VariantRun[]): ScenarioReport {
  return {
    version: 1,
    scenario: file.path,
    seed: file.seed,
    variants: runs.map(({ result, interrupted }) => (interrupted === true ? { ...result, interrupted } : result)),
  }
}
