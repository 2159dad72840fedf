export const exitCodes = {
  fine: 0,
  /** An expectation or check failed, or the export at exit. */
  failed: 1,
  /** Wrong usage or input. */
  usage: 2,
  /** A defect of Shardlab. */
  internal: 3,
} as const

/** Writes the error to standard error without its stack. @returns the exit code */
export function reportError(error: unknown): number {
  // Compared by name: importing the class would load the whole cluster, even for `--help`.
  if (error instanceof Error && error.name === 'OptionError') {
    process.stderr.write(`shardlab: ${error.message.replace(/[^.?!]$/, '$&.')}\n`)
    return exitCodes.usage
  }
  process.stderr.write(
    `shardlab: internal error, please report it: ${error instanceof Error ? error.message : String(error)}\n`,
  )
  return exitCodes.internal
}
