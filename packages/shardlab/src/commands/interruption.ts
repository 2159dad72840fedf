/** Ctrl-C while something is measured: first in order, then in a hurry, then at once. */
import { constants } from 'node:os'

export interface Interruption {
  /** The first signal: end what is being done, and report. */
  readonly stop: AbortSignal
  /** The second one: report what there is. */
  readonly hurry: AbortSignal
  /** 128 and the number of the signal, as shells have it; null: there was none. */
  exitCode(): number | null
  /** Gives the signals back. */
  end(): void
}

/** A launcher passes on what the terminal has already sent to everybody: of signals that come together, the first one counts. */
const togetherMs = 300

/**
 * Takes SIGINT and SIGTERM; a third one ends the process.
 * @param tell gets what happens now and what the next one would do, when the first one comes
 */
export function takeSignals(tell: (text: string) => void): Interruption {
  const [stop, hurry] = [new AbortController(), new AbortController()]
  let code: number | null = null
  let lastMs = Number.NEGATIVE_INFINITY
  const onSignal = (signal: 'SIGINT' | 'SIGTERM'): void => {
    const nowMs = performance.now()
    if (nowMs - lastMs < togetherMs) return
    lastMs = nowMs
    if (hurry.signal.aborted) process.exit(code ?? 128)
    if (stop.signal.aborted) return hurry.abort()
    code = 128 + constants.signals[signal]
    stop.abort()
    tell('interrupted: what was measured is checked and reported; the same again leaves out the check')
  }
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.on(signal, onSignal)
  return {
    stop: stop.signal,
    hurry: hurry.signal,
    exitCode: () => code,
    end: () => signals.forEach((signal) => process.off(signal, onSignal)),
  }
}
