import { exitCodes } from './exit-codes.js'

/**
 * Resolves at the first SIGINT or SIGTERM, or when the parent process has closed its IPC channel. A
 * second signal ends the process at once.
 */
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
    // undefined without a channel. `shardlab load --up` opens one; it may be closed already.
    if (process.connected === false) onSignal()
    else process.once('disconnect', onSignal)
  })
}
