import { noUserDigest, sessionParts, uuidText, type SessionKey } from '@shardlab/member'

/** As the server's. */
export function sessionText(key: SessionKey): string {
  const { id, uid, txnNumber, txnUuid } = sessionParts(key)
  const user = Buffer.from(uid.length > 0 ? uid : noUserDigest).toString('base64')
  return [uuidText(id), user, txnNumber ?? '', txnUuid === null ? '' : uuidText(txnUuid)].join(' - ')
}
