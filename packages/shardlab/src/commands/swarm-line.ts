/** A progress bar on standard error; without a terminal, a line for each run that fails. */
import { SingleBar } from 'cli-progress'
import type { SwarmProgress } from '@shardlab/scenario'

export function swarmLine(): { show: (progress: SwarmProgress) => void; end(): void } {
  if (!process.stderr.isTTY) return { show: printFailure, end() {} }
  const bar = new SingleBar({
    format: '{bar} {percentage}% {runs} runs, {failed} failed',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    stream: process.stderr,
    clearOnComplete: true,
    hideCursor: true,
    linewrap: false,
  })
  bar.start(1000, 0, { runs: 0, failed: 0 })
  return {
    show: ({ runs, failed, share }) => bar.update(Math.round(share * 1000), { runs, failed }),
    end: () => bar.stop(),
  }
}

/** The report follows after all runs, which may take hours. */
function printFailure({ found }: SwarmProgress): void {
  if (found !== null)
    process.stderr.write(
      `shardlab: seed ${found.seed} failed, ${found.violation.checker}: ${found.violation.sentence}\n`,
    )
}
