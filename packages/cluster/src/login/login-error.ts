/** The message is that of the server, or says what is wrong with its messages. */
export class LoginError extends Error {
  override readonly name = 'LoginError'
}
