import type { CommandArguments } from '@shardlab/actor'
import { emptyDocument } from '@shardlab/bson'

/**
 * The write concern of each batch that a migration clones; empty: one other member, null: none. The
 * first of the two names that is present counts.
 */
export function secondaryThrottleOf(args: CommandArguments): Uint8Array | null {
  const name = args.has('secondaryThrottle') ? 'secondaryThrottle' : '_secondaryThrottle'
  return args.bool(name) === true ? (args.document('writeConcern') ?? emptyDocument) : null
}
