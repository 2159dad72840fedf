import { compareTimestamps, type TimestampPair } from '@shardlab/actor'
import type { ReadConcern } from '@shardlab/member'
import type { MongosHost } from '../host/mongos-host.js'

/**
 * The time at which a read with concern snapshot reads all shards: the client's, else the newest
 * one that this router or the client has seen. Server: transaction_router.cpp,
 * setDefaultAtClusterTime.
 */
export function snapshotTime({ clock }: Pick<MongosHost, 'clock'>, read: ReadConcern): TimestampPair {
  const { afterClusterTime, atClusterTime } = read
  if (atClusterTime !== null) return atClusterTime
  const { time } = clock
  return afterClusterTime !== null && compareTimestamps(afterClusterTime, time) > 0 ? afterClusterTime : time
}
