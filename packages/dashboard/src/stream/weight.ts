/** How long deltas are in a message, in characters, approximately. */
import type { Delta, LiveChunk } from './deltas.js'

/** Names and lengths of the fields, and the name of the shard. */
const chunkOverhead = 60

export const weightOfChunk = ({ key, min }: LiveChunk): number => key.length + min.length + chunkOverhead

/** To make a text of all chunks would take longer. */
export function weightOf(delta: Delta): number {
  if (delta.type !== 'chunks') return JSON.stringify(delta).length
  const { chunks, ...others } = delta
  return chunks.reduce((sum, chunk) => sum + weightOfChunk(chunk), JSON.stringify(others).length)
}
