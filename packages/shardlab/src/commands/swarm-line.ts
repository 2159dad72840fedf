/** A progress bar on standard error; without a terminal, a line for each run that fails. */
import { SingleBar } from 'cli-progress'
import type { SwarmProgress } from '@shardlab/scenario'

export function swarmLine(): { show: (progress: SwarmProgress) => void; end(): void } {
  if (!process.stderr.isTTY) return { show: printFailure, end() {} }
  const bar = new SingleBar({
    format: '{bar} {percentage}% {runs} runs, {failed} failed{shrinking}',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    stream: process.stderr,
    clearOnComplete: true,
    hideCursor: true,
    linewrap: false,
  })
  bar.start(1000, 0, { runs: 0, failed: 0, shrinking: '' })
  return {
    show: ({ runs, failed, share, shrinking }) =>
      bar.update(Math.round(share * 1000), {
        runs,
        failed,
        shrinking:
          shrinking === null
            ? ''
            : `; looking for the smallest run of seed ${shrinking.seed} that fails: ${shrinking.attempt}, at most ${shrinking.attemptsMax}`,
      }),
    end: () => bar.stop(),
  }
}

/** Attempts per line without a terminal. */
const shrinkingEvery = 10

/** The report follows after all runs, which may take hours. */
function printFailure({ found, shrinking }: SwarmProgress): void {
  if (shrinking !== null && shrinking.attempt % shrinkingEvery === 1)
    process.stderr.write(
      `shardlab: looking for the smallest run of seed ${shrinking.seed} that fails: attempt ${shrinking.attempt}, at most ${shrinking.attemptsMax}\n`,
    )
  if (found !== null)
    process.stderr.write(
      `shardlab: seed ${found.seed} failed, ${found.violation.checker}: ${found.violation.sentence}\n`,
    )
}
