/** Written to standard error, and only if that is a terminal. */
import { SingleBar } from 'cli-progress'
import type { SimulationProgress } from '@shardlab/scenario'

export function simulateLine(): {
  show: (progress: SimulationProgress) => void
  print: (text: string) => void
  end(): void
} {
  const print = (text: string): void => void process.stderr.write(`shardlab: ${text}\n`)
  if (!process.stderr.isTTY) return { show: () => {}, print, end() {} }
  const bar = new SingleBar({
    format: '{bar} {percentage}% {variant}, {duration_formatted}, about {eta_formatted} left',
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
    // The bar does not continue after the text.
    print(text) {
      bar.stop()
      print(text)
    },
    end: () => bar.stop(),
  }
}
