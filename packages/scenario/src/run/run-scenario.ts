import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { MessageChannel } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { Scenario, ScenarioFile } from '../file/parse.js'
import { checkCode } from '../policy/check-code.js'
import type { ScenarioReport, SimulationProgress, VariantRun } from '../types.js'
import { InterruptedSimulation } from './failure.js'
import { runOf, type TaskOutcome, type VariantTask } from './play-task.js'
import { runVariant, type RunLimits } from './run-variant.js'

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

export interface RunScenarioOptions {
  /** Running variants end at their next look at the cluster. */
  readonly stop?: AbortSignal
  /** Scenarios may run the modules of their policies. Default false. */
  readonly allowCode?: boolean
}

/**
 * Plays the variants in parallel on worker threads.
 * @returns a run per variant in the order of the file; none for those stopped before their start
 * @throws OptionError for an unreadable file of key values, and for a policy that is not allowed
 * @throws ScenarioError if a cluster cannot be set up as the scenario says
 */
export async function runScenario(
  file: ScenarioFile,
  onProgress: (progress: SimulationProgress) => void = () => {},
  { stop, allowCode = false }: RunScenarioOptions = {},
): Promise<VariantRun[]> {
  const { variants } = file
  for (const variant of variants) checkCode(variant, allowCode)
  if (stop?.aborted === true) return []
  const shares = variants.map(() => 0)
  const note = (i: number) => (share: number) => {
    shares[i] = share
    onProgress({ variant: variants[i]!.name, share: shares.reduce((sum, each) => sum + each, 0) / variants.length })
  }
  const threads = Math.min(variants.length, availableParallelism())
  const isLarge = variants.some(({ cluster }) => cluster.shards >= largeFromShards)
  // A thread would load all modules again.
  if (threads === 1 && !isLarge) return playHere(variants, note, { allowCode, isStopped: () => stop?.aborted === true })
  if (isLarge) for (const [large] of largeFlags) setFlagsFromString(large)
  // Loaders of the caller, such as a test runner's, would run in each thread.
  const filename = new URL('./variant.worker.js', import.meta.url).href
  const resourceLimits = isLarge ? { maxYoungGenerationSizeMb: 3 * largeSemiSpace } : {}
  const stopped = new Int32Array(new SharedArrayBuffer(4))
  const onStop = (): void => void Atomics.store(stopped, 0, 1)
  stop?.addEventListener('abort', onStop)
  const pool = new Piscina({ filename, minThreads: threads, maxThreads: threads, execArgv: [], resourceLimits })
  try {
    const runs = await Promise.all(
      variants.map((scenario, i) => runIn(pool, { scenario, allowCode, stopped }, note(i))),
    )
    return runs.filter((run) => run !== null)
  } finally {
    stop?.removeEventListener('abort', onStop)
    await pool.destroy()
    // Compiled code is rejected while flags differ.
    if (isLarge) for (const [, usual] of largeFlags) setFlagsFromString(usual)
  }
}

async function playHere(
  variants: readonly Scenario[],
  note: (i: number) => (share: number) => void,
  limits: RunLimits,
): Promise<VariantRun[]> {
  const runs: VariantRun[] = []
  for (const [i, scenario] of variants.entries()) {
    try {
      runs.push(await runVariant(scenario, note(i), limits))
    } catch (error) {
      if (!(error instanceof InterruptedSimulation)) throw error
    }
  }
  return runs
}

async function runIn(
  pool: Piscina,
  task: Omit<VariantTask, 'port'>,
  note: (share: number) => void,
): Promise<VariantRun | null> {
  const { port1, port2 } = new MessageChannel()
  port1.on('message', note)
  try {
    return runOf(
      (await pool.run({ ...task, port: port2 } satisfies VariantTask, { transferList: [port2] })) as TaskOutcome,
    )
  } finally {
    port1.close()
  }
}

export function reportOf(file: ScenarioFile, runs: readonly VariantRun[]): ScenarioReport {
  return {
    version: 1,
    scenario: file.path,
    seed: file.seed,
    variants: runs.map(({ result, interrupted }) => (interrupted === true ? { ...result, interrupted } : result)),
  }
}
