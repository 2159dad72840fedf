/**
 * The bytes of a node's checkpoint: a head (lengths of the engine and of the retry history, cluster
 * time, number and lengths of the oplog's parts), the engine, the retry history, the oplog.
 */
import { bytesOfImage, type DiskImage, type TimestampPair } from '@shardlab/actor'
import { readUint32, writeInt32 } from '@shardlab/bson'

const headBytes = 20

/**
 * @param oplog parts of whole entries, one after the other; each but the first begins where a
 *   record begins. The oplog may reuse the bytes once the image is written.
 */
export function checkpointImage(
  engine: DiskImage,
  sessions: Uint8Array,
  time: TimestampPair,
  oplog: readonly Uint8Array[],
): DiskImage {
  const head = Buffer.alloc(headBytes + 4 * oplog.length)
  writeInt32(head, 0, engine.length)
  writeInt32(head, 4, time[0])
  writeInt32(head, 8, time[1])
  writeInt32(head, 12, sessions.length)
  writeInt32(head, 16, oplog.length)
  for (const [i, part] of oplog.entries()) writeInt32(head, headBytes + 4 * i, part.length)
  const oplogAt = head.length + engine.length + sessions.length
  return {
    length: oplogAt + bytesIn(oplog),
    copyTo(target) {
      target.set(head)
      engine.copyTo(target.subarray(head.length))
      target.set(sessions, head.length + engine.length)
      let at = oplogAt
      for (const part of oplog) {
        target.set(part, at)
        at += part.length
      }
    },
    pieces() {
      const newest = oplog.map((part) => new Uint8Array(part))
      return piecesOf([[head], engine.pieces?.() ?? [bytesOfImage(engine)], [sessions], newest])
    },
  }
}

function* piecesOf(parts: readonly Iterable<Uint8Array>[]): Generator<Uint8Array, void, void> {
  for (const part of parts) yield* part
}

/** Engine and oplog are views of the bytes; sessions are a copy. */
export function readCheckpointImage(bytes: Uint8Array): {
  readonly engine: Uint8Array
  readonly sessions: Uint8Array
  readonly oplog: readonly Uint8Array[]
  readonly time: TimestampPair
} {
  const parts = readUint32(bytes, 16)
  const engineAt = headBytes + 4 * parts
  const engineEnd = engineAt + readUint32(bytes, 0)
  const sessionsEnd = engineEnd + readUint32(bytes, 12)
  const oplog: Uint8Array[] = []
  for (let i = 0, at = sessionsEnd; i < parts; i++) {
    const end = at + readUint32(bytes, headBytes + 4 * i)
    oplog.push(bytes.subarray(at, end))
    at = end
  }
  return {
    engine: bytes.subarray(engineAt, engineEnd),
    sessions: bytes.slice(engineEnd, sessionsEnd),
    oplog,
    time: [readUint32(bytes, 4), readUint32(bytes, 8)],
  }
}

export function bytesIn(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0)
}
