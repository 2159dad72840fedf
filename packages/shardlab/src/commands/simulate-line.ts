/** Progress on standard error: a bar on a terminal, otherwise a line now and then. */
import { SingleBar } from 'cli-progress'
import type { SimulationProgress } from '@shardlab/scenario'

/** Short runs print nothing. */
const lineEveryMs = 60_000

/** @param now in milliseconds */
export function progressLines(
  print: (text: string) => void,
  now: () => number,
): (progress: SimulationProgress) => void {
  const beganMs = now()
  let lastMs = beganMs
  return ({ variant, share }) => {
    const nowMs = now()
    if (nowMs - lastMs < lineEveryMs || share >= 1) return
    lastMs = nowMs
    print(`${Math.floor(share * 100)}% after ${Math.round((nowMs - beganMs) / 1000)} s, ${variant}`)
  }
}

export function simulateLine(): {
  show: (progress: SimulationProgress) => void
  print: (text: string) => void
  end(): void
} {
  const print = (text: string): void => void process.stderr.write(`shardlab: ${text}\n`)
  if (!process.stderr.isTTY) return { show: progressLines(print, () => performance.now()), print, end() {} }
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
