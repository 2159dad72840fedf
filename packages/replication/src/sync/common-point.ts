/** Where two oplogs part. Server: rollback_common_point, roll_back_local_operations.cpp. */
import { compareTimestamps, type OpTime } from '../optime.js'

/**
 * Both iterators begin with the newest entry and go back in time.
 * @returns the newest entry that both have; null: none, the oplogs do not overlap
 */
export function commonPoint(local: Iterator<OpTime>, remote: Iterator<OpTime>): OpTime | null {
  let own = local.next()
  let other = remote.next()
  while (own.done !== true && other.done !== true) {
    const order = compareTimestamps(own.value.ts, other.value.ts)
    if (order === 0 && own.value.term === other.value.term) return own.value
    if (order >= 0) own = local.next()
    if (order <= 0) other = remote.next()
  }
  return null
}
