/**
 * The bytes of a node's checkpoint: a head (lengths of the engine and of the retry history, cluster
 * time), the engine, the retry history, the oplog.
 */
import type { DiskImage, TimestampPair } from '@shardlab/actor'
import { readUint32, writeInt32 } from '@shardlab/bson'

const headBytes = 16

export interface OplogPart {
  readonly sizeBytes: number
  copyTo(target: Uint8Array): void
}

export function checkpointImage(
  engine: DiskImage,
  sessions: Uint8Array,
  time: TimestampPair,
  oplog: OplogPart,
): DiskImage {
  const head = Buffer.alloc(headBytes)
  writeInt32(head, 0, engine.length)
  writeInt32(head, 4, time[0])
  writeInt32(head, 8, time[1])
  writeInt32(head, 12, sessions.length)
  const oplogAt = headBytes + engine.length + sessions.length
  return {
    length: oplogAt + oplog.sizeBytes,
    copyTo(target) {
      target.set(head)
      engine.copyTo(target.subarray(headBytes))
      target.set(sessions, headBytes + engine.length)
      oplog.copyTo(target.subarray(oplogAt))
    },
  }
}

/** Engine and oplog are views of the bytes; sessions are a copy. */
export function readCheckpointImage(bytes: Uint8Array): {
  readonly engine: Uint8Array
  readonly sessions: Uint8Array
  readonly oplog: Uint8Array
  readonly time: TimestampPair
} {
  const engineEnd = headBytes + readUint32(bytes, 0)
  const sessionsEnd = engineEnd + readUint32(bytes, 12)
  return {
    engine: bytes.subarray(headBytes, engineEnd),
    sessions: bytes.slice(engineEnd, sessionsEnd),
    oplog: bytes.subarray(sessionsEnd),
    time: [readUint32(bytes, 4), readUint32(bytes, 8)],
  }
}

export function oplogPartOf(entries: Uint8Array): OplogPart {
  return { sizeBytes: entries.length, copyTo: (target) => target.set(entries) }
}
