import { noUserDigest, uuidText, type SessionKey } from '@shardlab/member'

/** As the server's, for sessions that are not part of an internal transaction. */
export function sessionText(key: SessionKey): string {
  const bytes = Buffer.from(key, 'latin1')
  const user = bytes.length > 16 ? bytes.subarray(16) : noUserDigest
  return `${uuidText(bytes.subarray(0, 16))} - ${Buffer.from(user).toString('base64')} -  - `
}
