import { findField } from '@shardlab/bson'
import { SessionCatalog, type SessionId } from '@shardlab/member'

/** The retryable write that moves a document. */
export interface MoveSession {
  readonly id: SessionId
  readonly txnNumber: bigint
  readonly stmtId: number
}

/** Reads `{ lsid, txnNumber, stmtId }`. */
export function readSession(document: Uint8Array): MoveSession {
  return {
    id: SessionCatalog.parse(findField(document, 'lsid')!.slice()),
    txnNumber: findField(document, 'txnNumber')!.asBigInt(),
    stmtId: findField(document, 'stmtId')!.asNumber(),
  }
}
