import { exitCodes } from './exit-codes.js'
import { watchParents } from './parents.js'

/**
 * Resolves at the first SIGINT or SIGTERM, when the parent process has closed its IPC channel, or
 * when npm, which started this process, has ended. A second signal ends the process at once.
 * @param exitWithParent also when the program that started this one has ended, or has closed
 *   standard input
 */
export function untilSignal(exitWithParent: boolean): Promise<void> {
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
    if (process.connected === false) resolve()
    else process.once('disconnect', resolve)
    watchParents(exitWithParent, resolve)
  })
}
