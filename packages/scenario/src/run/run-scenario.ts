/**
 * All variants of a scenario: several at a time on worker threads, as each is a world of its own.
 */
import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { MessageChannel } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { Scenario, ScenarioFile } from '../file/parse.js'
import type { ScenarioReport, SimulationProgress, VariantRun } from '../types.js'
import { InterruptedSimulation } from './failure.js'
import { runOf, type TaskOutcome, type VariantTask } from './play-task.js'
import { runVariant } from './run-variant.js'

/**
 * From so many shards on, so much happens at a time that most of it would outlive a young
 * generation of the usual size.
 */
const largeFromShards = 100
/** In MiB. */
const largeSemiSpace = 128
/** Of the engine, and what they are otherwise. */
const largeFlags = [
  // What a large world is made of stays, and the engine concludes that what the same functions make
  // afterwards does so too: it would put each migration's garbage among the old objects.
  ['--no-allocation-site-pretenuring', '--allocation-site-pretenuring'],
  // A young generation that grows to its size is copied at each step.
  [`--min-semi-space-size=${largeSemiSpace}`, '--min-semi-space-size=0'],
  // Hundreds of members do one step in a row: code that is short stays in the processor's cache
  // from one to the next.
  ['--max-inlined-bytecode-size-cumulative=400', '--max-inlined-bytecode-size-cumulative=920'],
] as const

export interface RunScenarioOptions {
  /** Aborted: what runs ends at its next look at the cluster. */
  readonly stop?: AbortSignal
}

/**
 * Plays every variant.
 * @returns a run for each, in the order of the file; of those that were stopped before their
 *   beginning none
 * @throws OptionError for a file of key values that cannot be read
 * @throws ScenarioError when the cluster cannot be set up as a scenario says
 */
export async function runScenario(
  file: ScenarioFile,
  onProgress: (progress: SimulationProgress) => void = () => {},
  { stop }: RunScenarioOptions = {},
): Promise<VariantRun[]> {
  const { variants } = file
  if (stop?.aborted === true) return []
  const shares = variants.map(() => 0)
  const note = (i: number) => (share: number) => {
    shares[i] = share
    onProgress({ variant: variants[i]!.name, share: shares.reduce((sum, each) => sum + each, 0) / variants.length })
  }
  const threads = Math.min(variants.length, availableParallelism())
  const isLarge = variants.some(({ cluster }) => cluster.shards >= largeFromShards)
  // A thread would load all of it once more.
  if (threads === 1 && !isLarge) return playHere(variants, note, () => stop?.aborted === true)
  if (isLarge) for (const [large] of largeFlags) setFlagsFromString(large)
  // Loaders of the caller, such as a test runner's, would be loaded by each thread again.
  const filename = new URL('./variant.worker.js', import.meta.url).href
  const resourceLimits = isLarge ? { maxYoungGenerationSizeMb: 3 * largeSemiSpace } : {}
  const stopped = new Int32Array(new SharedArrayBuffer(4))
  const onStop = (): void => void Atomics.store(stopped, 0, 1)
  stop?.addEventListener('abort', onStop)
  const pool = new Piscina({ filename, minThreads: threads, maxThreads: threads, execArgv: [], resourceLimits })
  try {
    const runs = await Promise.all(variants.map((scenario, i) => runIn(pool, { scenario, stopped }, note(i))))
    return runs.filter((run) => run !== null)
  } finally {
    stop?.removeEventListener('abort', onStop)
    await pool.destroy()
    // Code that was compiled before would be refused as long as a flag is another one.
    if (isLarge) for (const [, usual] of largeFlags) setFlagsFromString(usual)
  }
}

async function playHere(
  variants: readonly Scenario[],
  note: (i: number) => (share: number) => void,
  isStopped: () => boolean,
): Promise<VariantRun[]> {
  const runs: VariantRun[] = []
  for (const [i, scenario] of variants.entries()) {
    try {
      runs.push(await runVariant(scenario, note(i), { isStopped }))
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
