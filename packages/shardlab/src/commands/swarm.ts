/** `shardlab swarm`: runs of the whole cluster from seeds, with checkers. */
import { writeFileSync } from 'node:fs'
import { OptionError } from '@shardlab/cluster'
import { isClean, runSwarm, swarmText, type SwarmOptions, type SwarmReport } from '@shardlab/scenario'
import { exitCodes } from '../exit-codes.js'
import { swarmLine } from './swarm-line.js'
import type { SwarmCommandOptions } from './swarm-options.js'

/** Runs the command; resolves with the exit code. */
export async function swarm({ json, ...options }: SwarmCommandOptions): Promise<number> {
  const line = swarmLine()
  let report: SwarmReport
  try {
    // What is no verb and no mutation is refused there.
    report = await runSwarm(options as SwarmOptions, line.show)
  } finally {
    line.end()
  }
  if (typeof json === 'string') save(json, jsonOf(report))
  if (json === true) process.stdout.write(jsonOf(report))
  else process.stdout.write(swarmText(report))
  return isClean(report) ? exitCodes.fine : exitCodes.failed
}

function jsonOf({ runs, failed, traceHashes, coverage }: SwarmReport): string {
  const failures = failed.map(({ seed, checker, replay, violations }) => ({ seed, checker, replay, violations }))
  return `${JSON.stringify({ runs, failed: failures, traceHashes, coverage })}\n`
}

function save(path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (error) {
    throw new OptionError(`${path} cannot be written: ${(error as NodeJS.ErrnoException).code ?? String(error)}.`)
  }
}
