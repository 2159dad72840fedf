import { errors } from '@nats-io/transport-node'

/** What Shardlab publishes and subscribes to. */
const roots = ['$JS.API.', '$JS.ACK.', '_INBOX.', 'shardlab.']

/**
 * One sentence about a permission that the user of a connection does not have; null: it is another
 * error. A subject outside of Shardlab's is another error, too: a stranger can name it as the
 * subject for a reply.
 */
export function missingPermission(address: string, error: unknown): string | null {
  const violation = [error, (error as Error | undefined)?.cause].find(
    (each): each is InstanceType<typeof errors.PermissionViolationError> =>
      each instanceof errors.PermissionViolationError,
  )
  if (violation === undefined) return null
  const { operation, subject } = violation
  const root = roots.find((each) => subject.startsWith(each))
  if (root === undefined) return null
  const what = operation === 'publish' ? 'publish' : 'subscribe'
  return `NATS at ${address} does not allow the user to ${what} to ${subject}: give it the permission to ${what} to ${root}>`
}
