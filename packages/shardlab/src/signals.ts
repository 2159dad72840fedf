import { exitCodes } from './exit-codes.js'

/** Resolves at the first SIGINT or SIGTERM, or when a parent that has opened a channel is gone; a second one ends the process at once. */
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
    // Only where a parent has opened a channel, as `shardlab load --up` does. It may be gone already.
    if (process.connected === false) onSignal()
    else process.once('disconnect', onSignal)
  })
}
