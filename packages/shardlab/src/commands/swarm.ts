import { reportHtml } from '@shardlab/dashboard/report'
import {
  isClean,
  runSwarm,
  swarmJobs,
  swarmPage,
  swarmText,
  type SwarmOptions,
  type SwarmReport,
} from '@shardlab/scenario'
import { exitCodes } from '../exit-codes.js'
import { queueOpener } from '../jobs/open-queue.js'
import { handleSignals } from './interruption.js'
import { checkWritable, save } from './output-file.js'
import { swarmLine } from './swarm-line.js'
import type { SwarmCommandOptions } from './swarm-options.js'

/** @returns the exit code */
export async function swarm({ json, report: page, ...options }: SwarmCommandOptions): Promise<number> {
  if (typeof json === 'string') checkWritable(json)
  if (page !== undefined) checkWritable(page)
  const queue = queueOpener(swarmJobs, options, (text) => line.print(text))
  const line = swarmLine()
  const interruption = handleSignals(() =>
    line.print('stopping; the report follows when the runs in progress have ended. Press Ctrl-C again to end at once.'),
  )
  interruption.hurry.addEventListener('abort', () => {
    void queue.end().finally(() => process.exit(interruption.exitCode()))
  })
  let report: SwarmReport
  try {
    // runSwarm refuses unknown names.
    const run = { ...(options as SwarmOptions), stop: interruption.stop }
    report = await runSwarm(queue.open === undefined ? run : { ...run, queue: queue.open }, (progress) =>
      line.show(progress),
    )
  } finally {
    line.end()
    interruption.end()
  }
  if (typeof json === 'string') save(json, jsonOf(report))
  if (page !== undefined) save(page, reportHtml(swarmPage(report)))
  if (json === true) process.stdout.write(jsonOf(report))
  else process.stdout.write(swarmText(report))
  return interruption.exitCode() ?? (isClean(report) ? exitCodes.fine : exitCodes.failed)
}

/** With the timeline of each failure. */
export function jsonOf({ runs, failed, traceHashes, coverage }: SwarmReport): string {
  return `${JSON.stringify({ runs, failed, traceHashes, coverage })}\n`
}
