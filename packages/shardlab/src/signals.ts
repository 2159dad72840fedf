import { exitCodes } from './exit-codes.js'
import { watchParents } from './parents.js'

/** A launcher passes the signal of a terminal on to a process that has received it already. */
const sameSignalMs = 300

/**
 * Resolves at the first SIGINT or SIGTERM, when the parent process has closed its IPC channel, or
 * when npm, which started this process, has ended. A later signal ends the process at once.
 * @param exitWithParent also when the program that started this one has ended, or has closed
 *   standard input
 */
export function untilSignal(exitWithParent: boolean): Promise<void> {
  return new Promise((resolve) => {
    let firstAtMs: number | null = null
    const onSignal = (): void => {
      const nowMs = performance.now()
      if (firstAtMs !== null && nowMs - firstAtMs > sameSignalMs) process.exit(exitCodes.fine)
      firstAtMs ??= nowMs
      resolve()
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
    // undefined without a channel. `shardlab load --up` opens one; it may be closed already.
    if (process.connected === false) resolve()
    else process.once('disconnect', resolve)
    watchParents(exitWithParent, resolve)
  })
}
