import type { MemberHost } from '../member-host.js'
import { maxTimeExpired } from '../operations/time-limit.js'

/**
 * 0: no limit. Server: operation_context.cpp, hasDeadlineExpired.
 * @throws CommandError 50 MaxTimeMSExpired
 */
export function maxTimeMsAtFailPoints({ failPoints }: MemberHost, maxTimeMs: number): number {
  if (maxTimeMs === 0 || !failPoints.active) return maxTimeMs
  if (failPoints.enter('maxTimeNeverTimeOut') !== null) return 0
  if (failPoints.enter('maxTimeAlwaysTimeOut') !== null) throw maxTimeExpired()
  return maxTimeMs
}
