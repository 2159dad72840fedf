/** Entries of the log that are not on the disk yet. */

/** Their bytes, or what makes them when they are written. */
export type Pending = Uint8Array | { readonly length: number; bytes(): Uint8Array }

/** What a record may take on the disk beside its bytes; several entries share one. */
export const entryHeaderBytes = 4

export function bytesOf(pending: Pending): Uint8Array {
  return pending instanceof Uint8Array ? pending : pending.bytes()
}

/** The room that they take on the disk at most, in bytes. */
export function roomOf(entries: readonly Pending[]): number {
  let bytes = 0
  for (const { length } of entries) bytes += length + entryHeaderBytes
  return bytes
}

/** All of them as one record of the disk; there is at least one. */
export function recordOf(entries: readonly Pending[]): Uint8Array {
  return entries.length === 1 ? bytesOf(entries[0]!) : Buffer.concat(entries.map(bytesOf))
}
