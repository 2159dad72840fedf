/** SHA-256, as in the server's hashes of query shapes. */
import { sha256 } from '@noble/hashes/sha2.js'

/** The digest in upper-case hexadecimal. */
export function sha256Text(bytes: Uint8Array): string {
  return Buffer.from(sha256(bytes)).toString('hex').toUpperCase()
}
