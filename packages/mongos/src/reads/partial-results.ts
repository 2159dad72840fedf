/** allowPartialResults: shards that cannot be reached, or are late, are left out. Server: cluster_find.cpp, establish_cursors.cpp. */
import type { MongosInvocation } from '../host/mongos-host.js'
import type { RemoteCommand } from '../remote/remote.js'
import { isUnreachable, type MemberAnswer } from '../routing/scatter.js'
import { establishCursors, type EstablishedCursors } from './open-cursor.js'

/** Longest part of maxTimeMS that is kept back for giving the client what is there. */
const spareMsMax = 100

/**
 * Opens a cursor on every shard that answers, be it on none. Where shards may be late, they have all of the command's maxTimeMS but a quarter,
 * or but 100 ms.
 * @throws CommandError the first error of a shard that answered, a stale one before others; 50 MaxTimeMSExpired before 6.2
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
    const passesOver = (answer: MemberAnswer) => isUnreachable(answer) || answer.error?.code === 50
    return await establishCursors(invocation, shards, commandFor, passesOver, true)
  } finally {
    operation.limit(maxTimeMs)
  }
}
