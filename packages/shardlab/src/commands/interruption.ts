/**
 * Ctrl-C during a measurement: the first stops it in order, the second skips what takes time, the
 * third ends the process.
 */
import { constants } from 'node:os'

export interface Interruption {
  /** Aborted by the first signal. */
  readonly stop: AbortSignal
  /** Aborted by the second signal. */
  readonly hurry: AbortSignal
  /** 128 plus the number of the signal, as in shells; null: no signal came. */
  exitCode(): number | null
  /** Removes the signal handlers. */
  end(): void
}

/**
 * Further signals within this time are ignored: a launcher may forward one that the terminal has
 * already sent to all.
 */
const togetherMs = 300

/** Handles SIGINT and SIGTERM until `end`. */
export function handleSignals(onFirst: () => void): Interruption {
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
    onFirst()
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
