/** Exit codes of the server. Manual: reference/exit-codes. */
export const serverExitCodes = {
  clean: 0,
  /** Failed initializers of mongos end with `abrupt`. */
  initialization: 1,
  badOptions: 2,
  abrupt: 14,
  netError: 48,
  /** The data is not of this version. */
  needDowngrade: 62,
  uncaught: 100,
} as const

/** The options are wrong: the server prints the message and a hint to its help, and ends with 2. */
export class ServerOptionError extends Error {
  override readonly name = 'ServerOptionError'
}

/** Startup initializers of the server have failed. @param reason with the name of its code */
export function initializationError(server: 'mongod' | 'mongos', reason: string): ServerStartError {
  const exitCode = server === 'mongod' ? serverExitCodes.initialization : serverExitCodes.abrupt
  return new ServerStartError(exitCode, `Error during global initialization: ${reason}`)
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
