import { CommandError } from '@shardlab/bson'

/**
 * Clients learn only that authentication has failed: the reason would tell them which users exist.
 * Server: authenticationFailedStatus.
 */
export class AuthenticationError extends CommandError {
  /** For the log. */
  readonly reason: string

  constructor(reason: string) {
    super('AuthenticationFailed', 'Authentication failed.')
    this.reason = reason
  }
}
