/** One scenario, in a process of its own so that its memory is its own: prints what it took as a line of JSON. */
import { parseScenario, runScenario } from '@shardlab/scenario'

export interface ScenarioResult {
  /** By the clock on the wall, the start of the process left out. */
  readonly wallMs: number
  /** Processor time, all threads of the process. */
  readonly processorMs: number
  readonly virtualMs: number
  readonly migrations: number
  /** Null: it has not converged. */
  readonly convergedAtMs: number | null
  readonly peakBytes: number
}

async function run(text: string): Promise<ScenarioResult> {
  const beganMs = performance.now()
  const [run] = await runScenario(parseScenario(text, 'bench'))
  const { result } = run!
  const { user, system } = process.cpuUsage()
  return {
    wallMs: performance.now() - beganMs,
    processorMs: (user + system) / 1000,
    virtualMs: result.durationMs,
    migrations: result.migrations.total,
    convergedAtMs: result.convergedAtMs,
    peakBytes: process.resourceUsage().maxRSS * 1024,
  }
}

process.stdout.write(`${JSON.stringify(await run(process.argv[2]!))}\n`)
