/** allowPartialResults. Server: cluster_find.cpp, establish_cursors.cpp. */
import { ErrorCodes } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import type { RemoteCommand } from '../remote/remote.js'
import { isUnreachable, type MemberAnswer } from '../routing/scatter.js'
import { establishCursors, type EstablishedCursors } from './open-cursor.js'

/** The longest part of maxTimeMS that is reserved for replying to the client. */
const spareMsMax = 100

/**
 * Opens cursors on the shards that reply, which may be none. If late shards may be left out, they
 * have the command's maxTimeMS less a quarter, or less 100 ms.
 * @throws CommandError the first error of a shard that replied, a stale one before others; 50
 *   MaxTimeMSExpired before 6.2
 */
export async function establishWhereReachable(
  invocation: MongosInvocation,
  shards: readonly string[],
  commandFor: (shard: string) => RemoteCommand,
): Promise<EstablishedCursors> {
  const { args, host, operation } = invocation
  const maxTimeMs = args.number('maxTimeMS') ?? 0
  if (maxTimeMs === 0 || !host.behaviours.timeLimitsLeavePartialResults)
    return establishCursors(invocation, shards, commandFor, isUnreachable, true)
  operation.limit(maxTimeMs - Math.min(maxTimeMs / 4, spareMsMax))
  try {
    const mayOmit = (answer: MemberAnswer) =>
      isUnreachable(answer) || answer.error?.code === ErrorCodes.MaxTimeMSExpired
    return await establishCursors(invocation, shards, commandFor, mayOmit, true)
  } finally {
    operation.limit(maxTimeMs)
  }
}
