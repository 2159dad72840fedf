/** Of transactions that routers run for clients. Server: logical_session_id_helpers.cpp. */
import type { SessionId, SessionKey } from '@shardlab/member'

/** Whether it is that of a retryable write of the client, with this number or a lower one. */
export function runsWriteOf({ parent }: SessionId, client: SessionKey, txnNumberMax: bigint): boolean {
  if (parent === undefined || parent.txnNumber === null) return false
  return parent.txnNumber <= txnNumberMax && parent.session.key === client
}
