import { Attachment } from '@shardlab/actor'

/** Approximate, for limits of bytes per second. */
export function sizeOfMessage(value: unknown): number {
  if (value instanceof Uint8Array) return value.length
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return scalarBytes
  if (value instanceof Attachment) return value.object.sizeBytes
  let sizeBytes = 0
  for (const each of Object.values(value)) sizeBytes += sizeOfMessage(each)
  return sizeBytes
}

const scalarBytes = 8
