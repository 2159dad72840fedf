/**
 * Runs one scenario in its own process, so that its memory can be measured; prints the result as a
 * line of JSON.
 */
import { parseScenario, runScenario } from '@shardlab/scenario'

export interface ScenarioResult {
  /** Wall clock, without the start of the process. */
  readonly wallMs: number
  /** CPU of all threads of the process. */
  readonly processorMs: number
  readonly virtualMs: number
  readonly migrations: number
  /** null: it did not converge. */
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
