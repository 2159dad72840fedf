/** The message is that of the server, or says what is wrong with its messages. */
export class LoginError extends Error {
  override readonly name = 'LoginError'
  /** Of the server; null: none. */
  readonly code: number | null

  constructor(message: string, code: number | null = null) {
    super(message)
    this.code = code
  }
}
