/**
 * The bytes of log files. A log file is a header, then frames, then zeros up to its allocated end.
 * A frame has the records of one write, so a frame with a valid one after it was acknowledged.
 * Numbers are little-endian.
 *
 * | header of a file, 44 bytes | header of a frame, 20 bytes |
 * | --- | --- |
 * | 8 bytes `SHARDLOG` | uint32 mark |
 * | uint32 version of the format | uint32 number of the frame in the file, from 0 |
 * | uint32 number of the file | uint32 length of the payload |
 * | 12 bytes of the disk, the same in all of its files | uint32 CRC-32 of the payload |
 * | uint64 {@link FileHeader.bytes} | uint32 CRC-32 of the above, seeded with the file's |
 * | 4 bytes reserved, uint32 CRC-32 of the above | payload: records, each a uint32 length and its bytes |
 */
import { crc32 } from 'node:zlib'
import { DiskDamagedError, DiskRefusedError } from './disk-damaged-error.js'

export const formatVersion = 1
export const fileHeaderBytes = 44
export const frameHeaderBytes = 20
export const diskIdBytes = 12
const magicBytes = 8
const mark = 0x4d_52_46_f7
const markBytes = Buffer.from([0xf7, 0x46, 0x52, 0x4d])

export type FileKind = 'SHARDLOG' | 'SHARDCKP'

export interface FileHeader {
  readonly number: number
  readonly diskId: Uint8Array
  /** Log files: the end of the file before; 0: the first file. Checkpoints: length of the body. */
  readonly bytes: number
}

export function encodeFileHeader(kind: FileKind, { number, diskId, bytes }: FileHeader): Buffer {
  const header = Buffer.alloc(fileHeaderBytes)
  header.write(kind, 0, 'latin1')
  header.writeUInt32LE(formatVersion, 8)
  header.writeUInt32LE(number, 12)
  header.set(diskId, 16)
  header.writeBigUInt64LE(BigInt(bytes), 28)
  header.writeUInt32LE(crc32(header.subarray(0, fileHeaderBytes - 4)), fileHeaderBytes - 4)
  return header
}

/**
 * @param path for errors
 * @param diskId of the member's other files; null: any
 * @throws DiskDamagedError, DiskRefusedError for another version
 */
export function decodeFileHeader(
  bytes: Buffer,
  path: string,
  { kind, number, diskId }: { readonly kind: FileKind; readonly number: number; readonly diskId: Uint8Array | null },
): FileHeader {
  if (bytes.length < fileHeaderBytes) throw new DiskDamagedError(path, bytes.length, 'the header is not complete')
  if (bytes.toString('latin1', 0, magicBytes) !== kind)
    throw new DiskDamagedError(path, 0, 'the file does not begin as Shardlab writes it')
  if (bytes.readUInt32LE(fileHeaderBytes - 4) !== crc32(bytes.subarray(0, fileHeaderBytes - 4)))
    throw new DiskDamagedError(path, 0, 'the checksum of the header is wrong')
  const version = bytes.readUInt32LE(8)
  if (version !== formatVersion)
    throw new DiskRefusedError(
      `${path} has version ${version} of the format, and this Shardlab reads version ${formatVersion}: use the release that wrote it.`,
    )
  const found = bytes.readUInt32LE(12)
  if (found !== number) throw new DiskDamagedError(path, 12, `it is file number ${found} under the name of ${number}`)
  const id = new Uint8Array(bytes.subarray(16, 16 + diskIdBytes))
  if (diskId !== null && !Buffer.from(id).equals(diskId))
    throw new DiskDamagedError(path, 16, 'it belongs to another member or another directory')
  return { number, diskId: id, bytes: Number(bytes.readBigUInt64LE(28)) }
}

/** By which frames of one file differ from those of another. */
export function seedOf(header: Uint8Array): number {
  return Buffer.from(header.buffer, header.byteOffset, header.length).readUInt32LE(fileHeaderBytes - 4)
}

export function frameBytes(records: readonly Uint8Array[]): number {
  return records.reduce((sum, { length }) => sum + 4 + length, frameHeaderBytes)
}

/** @param target at least {@link frameBytes} long; bytes after the frame are left alone */
export function encodeFrame(target: Buffer, seed: number, ordinal: number, records: readonly Uint8Array[]): number {
  let at = frameHeaderBytes
  for (const record of records) {
    target.writeUInt32LE(record.length, at)
    target.set(record, at + 4)
    at += 4 + record.length
  }
  target.writeUInt32LE(mark, 0)
  target.writeUInt32LE(ordinal, 4)
  target.writeUInt32LE(at - frameHeaderBytes, 8)
  target.writeUInt32LE(crc32(target.subarray(frameHeaderBytes, at)), 12)
  target.writeUInt32LE(crc32(target.subarray(0, 16), seed), 16)
  return at
}

export interface FrameHeader {
  readonly ordinal: number
  readonly payloadBytes: number
  readonly payloadCrc: number
}

/** null: there is no header of a frame of this file. */
export function decodeFrameHeader(bytes: Buffer, at: number, seed: number): FrameHeader | null {
  if (at + frameHeaderBytes > bytes.length || bytes.readUInt32LE(at) !== mark) return null
  if (bytes.readUInt32LE(at + 16) !== crc32(bytes.subarray(at, at + 16), seed)) return null
  return {
    ordinal: bytes.readUInt32LE(at + 4),
    payloadBytes: bytes.readUInt32LE(at + 8),
    payloadCrc: bytes.readUInt32LE(at + 12),
  }
}

export function isPayload(payload: Uint8Array, { payloadBytes, payloadCrc }: FrameHeader): boolean {
  return payload.length === payloadBytes && crc32(payload) === payloadCrc
}

/** Views. The payload has passed its checksum. */
export function recordsIn(payload: Buffer): Uint8Array[] {
  const records: Uint8Array[] = []
  for (let at = 0; at < payload.length;) {
    const start = at + 4
    at = start + payload.readUInt32LE(at)
    records.push(payload.subarray(start, at))
  }
  return records
}

/** Where a valid frame begins at or after `from`, whose number is above `ordinal`; -1: nowhere. */
export function findFrame(bytes: Buffer, from: number, seed: number, ordinal: number): number {
  for (let at = bytes.indexOf(markBytes, from); at >= 0; at = bytes.indexOf(markBytes, at + 1)) {
    const header = decodeFrameHeader(bytes, at, seed)
    if (header === null || header.ordinal <= ordinal) continue
    const start = at + frameHeaderBytes
    if (isPayload(bytes.subarray(start, start + header.payloadBytes), header)) return at
  }
  return -1
}
