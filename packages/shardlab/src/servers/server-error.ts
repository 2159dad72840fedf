/** Exit codes of the server. Manual: reference/exit-codes. */
export const serverExitCodes = {
  clean: 0,
  badOptions: 2,
  abrupt: 14,
  netError: 48,
  uncaught: 100,
} as const

/** The options are wrong: the server prints the message and a hint to its help, and ends with 2. */
export class ServerOptionError extends Error {
  override readonly name = 'ServerOptionError'
}

/** The server cannot start, before it has a log. */
export class ServerStartError extends Error {
  override readonly name = 'ServerStartError'
  readonly exitCode: number

  constructor(exitCode: number, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}
