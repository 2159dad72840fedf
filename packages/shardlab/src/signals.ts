import { exitCodes } from './exit-codes.js'

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    let signals = 0
    const onSignal = (): void => {
      signals++
      if (signals === 1) resolve()
      else process.exit(exitCodes.fine)
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
  })
}
