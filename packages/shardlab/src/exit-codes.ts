/** What a command's exit code means. */
export const exitCodes = {
  fine: 0,
  /** An expectation or check failed. */
  failed: 1,
  /** Wrong usage or input. */
  usage: 2,
  /** An error of our own. */
  internal: 3,
} as const

/** Says on standard error what went wrong, without a stack, and returns the exit code. */
export function reportError(error: unknown): number {
  // By name: importing the class would load the whole cluster, also for `--help`.
  if (error instanceof Error && error.name === 'OptionError') {
    process.stderr.write(`shardlab: ${error.message}\n`)
    return exitCodes.usage
  }
  process.stderr.write(
    `shardlab: an error of shardlab's own, please report it: ${error instanceof Error ? error.message : String(error)}\n`,
  )
  return exitCodes.internal
}
