/** The URI is wrong, or no cluster answers at it. The message is one sentence. */
export class ConnectError extends Error {
  /** Determines exit code 2. */
  override readonly name = 'OptionError'
}

/** The cluster has access control, and the URI has no user. */
export class LoginNeededError extends ConnectError {
  constructor() {
    super('the cluster has access control: use a URI with a user, such as mongodb://root:password@127.0.0.1:27017/.')
  }
}
