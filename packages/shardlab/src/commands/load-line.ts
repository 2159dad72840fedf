/** Written to standard error, and only if that is a terminal. */
import { counted } from '@shardlab/quantities'
import { SingleBar } from 'cli-progress'
import type { Progress } from '@shardlab/load'

export function loadLine(): { show: (progress: Progress) => void; print: (text: string) => void; end(): void } {
  const print = (text: string): void => void process.stderr.write(`shardlab: ${text}\n`)
  if (!process.stderr.isTTY) return { show: () => {}, print, end() {} }
  const bar = new SingleBar({
    format: '{text}',
    stream: process.stderr,
    clearOnComplete: true,
    hideCursor: true,
    linewrap: false,
  })
  bar.start(1, 0, { text: '' })
  return {
    show: (progress) => bar.update(0, { text: lineOf(progress) }),
    // The progress line continues below the text.
    print(text) {
      bar.stop()
      print(text)
      bar.start(1, 0, { text: '' })
    },
    end: () => bar.stop(),
  }
}

/** `run 12,000 of 50,000 · 4,012 a second · p99 3.1 ms · 0 errors`. */
export function lineOf({ phase, done, total, perSecond, errors, p99Us, step }: Progress): string {
  const parts = [
    `${step === null ? '' : `${step} `}${phase} ${done.toLocaleString('en')}${total === null ? '' : ` of ${total.toLocaleString('en')}`}`,
    `${perSecond.toLocaleString('en')} a second`,
    ...(p99Us === null ? [] : [`p99 ${(p99Us / 1000).toFixed(1)} ms`]),
    ...(phase === 'run' ? [counted(errors, 'error', (count) => count.toLocaleString('en'))] : []),
  ]
  return parts.join(' · ')
}
