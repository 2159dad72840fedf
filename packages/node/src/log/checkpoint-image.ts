/**
 * The bytes of a node's checkpoint: a head (length of the engine, cluster time), the engine, the
 * retry history.
 */
import type { DiskImage, TimestampPair } from '@shardlab/actor'
import { readUint32, writeInt32 } from '@shardlab/bson'

const headBytes = 16

export function checkpointImage(engine: DiskImage, sessions: Uint8Array, time: TimestampPair): DiskImage {
  const head = Buffer.alloc(headBytes)
  writeInt32(head, 0, engine.length)
  writeInt32(head, 4, time[0])
  writeInt32(head, 8, time[1])
  return {
    length: headBytes + engine.length + sessions.length,
    copyTo(target) {
      target.set(head)
      engine.copyTo(target.subarray(headBytes))
      target.set(sessions, headBytes + engine.length)
    },
  }
}

/** The engine is a view of the bytes; sessions are a copy. */
export function readCheckpointImage(bytes: Uint8Array): {
  readonly engine: Uint8Array
  readonly sessions: Uint8Array
  readonly time: TimestampPair
} {
  const engineEnd = headBytes + readUint32(bytes, 0)
  return {
    engine: bytes.subarray(headBytes, engineEnd),
    sessions: bytes.slice(engineEnd),
    time: [readUint32(bytes, 4), readUint32(bytes, 8)],
  }
}
