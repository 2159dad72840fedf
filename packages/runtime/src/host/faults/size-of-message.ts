/** Approximate size of a message in bytes, for limits of bytes per second. */
export function sizeOfMessage(value: unknown): number {
  if (value instanceof Uint8Array) return value.length
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return scalarBytes
  let sizeBytes = 0
  for (const each of Object.values(value)) sizeBytes += sizeOfMessage(each)
  return sizeBytes
}

const scalarBytes = 8
