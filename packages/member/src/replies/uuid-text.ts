import { hexOf } from '@shardlab/bson'

/** `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`. */
export function uuidText(bytes: Uint8Array): string {
  return hexOf(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
