/** The progress bar of `shardlab simulate` on standard error, if that is a terminal. */
import { SingleBar } from 'cli-progress'
import type { SimulationProgress } from '@shardlab/scenario'

export function simulateLine(): {
  show: (progress: SimulationProgress) => void
  say: (text: string) => void
  end(): void
} {
  const say = (text: string): void => void process.stderr.write(`shardlab: ${text}\n`)
  if (!process.stderr.isTTY) return { show: () => {}, say, end() {} }
  const bar = new SingleBar({
    format: '{bar} {percentage}% {variant}',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    stream: process.stderr,
    clearOnComplete: true,
    hideCursor: true,
    linewrap: false,
  })
  bar.start(1000, 0, { variant: '' })
  return {
    show: ({ variant, share }) => bar.update(Math.round(share * 1000), { variant }),
    // The bar is gone by then.
    say(text) {
      bar.stop()
      say(text)
    },
    end: () => bar.stop(),
  }
}
