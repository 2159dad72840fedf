/**
 * The bytes of a checkpoint file: a header as of log files, whose number is that of the first log
 * file after it, then blocks of at most 1 MB, each with its CRC-32.
 */
import { crc32 } from 'node:zlib'
import type { DiskImage } from '@shardlab/actor'
import { DiskDamagedError } from './disk-damaged-error.js'
import { syncFolder, type FileSystem } from './file-system.js'
import { decodeFileHeader, encodeFileHeader, fileHeaderBytes } from './frame-codec.js'

const blockBytes = 1024 * 1024
const temporaryName = 'checkpoint.tmp'

export const checkpointName = (number: number): string => `checkpoint-${String(number).padStart(8, '0')}`

/** The pieces in blocks of one size, each in the same memory. */
function* filledBlocks(pieces: Iterable<Uint8Array>): Generator<Uint8Array, void, void> {
  const block = Buffer.allocUnsafeSlow(blockBytes)
  let used = 0
  for (const piece of pieces)
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + blockBytes - used)
      block.set(part, used)
      used += part.length
      at += part.length
      if (used < blockBytes) continue
      yield block
      used = 0
    }
  if (used > 0) yield block.subarray(0, used)
}

function* blocksOf(body: Uint8Array): Generator<Uint8Array, void, void> {
  for (let at = 0; at < body.length; at += blockBytes) yield body.subarray(at, at + blockBytes)
}

/**
 * Writes beside the appends of the log, and becomes valid at once when it is renamed.
 * @param isNeeded asked after each wait. false: ends without a checkpoint
 * @returns whether the checkpoint is on the disk
 */
export async function writeCheckpointFile(
  files: FileSystem,
  folder: string,
  { number, diskId, image }: { readonly number: number; readonly diskId: Uint8Array; readonly image: ReadImage },
  isNeeded: () => boolean,
): Promise<boolean> {
  const path = `${folder}/${temporaryName}`
  const fd = files.openSync(path, 'w+')
  try {
    let position = 0
    const write = async (bytes: Uint8Array): Promise<void> => {
      for (let at = 0; at < bytes.length;) at += await written(files, fd, bytes.subarray(at), position + at)
      position += bytes.length
    }
    await write(encodeFileHeader('SHARDCKP', { number, diskId, bytes: image.length }))
    const checksum = Buffer.alloc(4)
    for (const block of filledBlocks(image.pieces)) {
      if (!isNeeded()) return false
      checksum.writeUInt32LE(crc32(block))
      await write(block)
      await write(checksum)
    }
    const expected = fileHeaderBytes + image.length + 4 * Math.ceil(image.length / blockBytes)
    if (position !== expected) throw new Error(`the checkpoint has ${position} bytes instead of ${expected}`)
    await flushed(files, fd)
  } catch (error) {
    if (isNeeded()) files.removeSync(path)
    throw error
  } finally {
    files.closeSync(fd)
  }
  if (!isNeeded()) return false
  files.renameSync(path, `${folder}/${checkpointName(number)}`)
  syncFolder(files, folder)
  return true
}

function written(files: FileSystem, fd: number, bytes: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    files.write(fd, bytes, position, (error, count) => (error === null ? resolve(count) : reject(error)))
  })
}

export function flushed(files: FileSystem, fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    files.fdatasync(fd, (error) => (error === null ? resolve() : reject(error)))
  })
}

/** @throws DiskDamagedError, DiskRefusedError */
export function readCheckpointFile(
  files: FileSystem,
  folder: string,
  { number, diskId }: { readonly number: number; readonly diskId: Uint8Array },
): Uint8Array {
  const path = `${folder}/${checkpointName(number)}`
  const sizeBytes = files.sizeSync(path)
  const fd = files.openSync(path, 'r')
  try {
    const head = Buffer.alloc(Math.min(fileHeaderBytes, sizeBytes))
    readFully(files, fd, head, 0, path)
    const { bytes } = decodeFileHeader(head, path, { kind: 'SHARDCKP', number, diskId })
    const expectedBytes = fileHeaderBytes + bytes + 4 * Math.ceil(bytes / blockBytes)
    if (sizeBytes !== expectedBytes)
      throw new DiskDamagedError(
        path,
        Math.min(sizeBytes, expectedBytes),
        `it has ${sizeBytes} bytes instead of ${expectedBytes}`,
      )
    const body = Buffer.allocUnsafeSlow(bytes)
    const checksum = Buffer.alloc(4)
    let position = fileHeaderBytes
    for (const block of blocksOf(body)) {
      readFully(files, fd, block, position, path)
      readFully(files, fd, checksum, position + block.length, path)
      if (checksum.readUInt32LE() !== crc32(block))
        throw new DiskDamagedError(path, position, 'the checksum of the block is wrong')
      position += block.length + 4
    }
    return body
  } finally {
    files.closeSync(fd)
  }
}

export function readFully(files: FileSystem, fd: number, target: Uint8Array, position: number, path: string): void {
  for (let at = 0; at < target.length;) {
    const count = files.readSync(fd, target, at, target.length - at, position + at)
    if (count === 0) throw new DiskDamagedError(path, position + at, 'the file ends')
    at += count
  }
}

export interface ReadImage {
  readonly length: number
  readonly pieces: Iterable<Uint8Array>
}

/** Copies the bytes, unless they are read in pieces later. */
export function readImage(checkpoint: Uint8Array | DiskImage): ReadImage {
  const { length } = checkpoint
  if ('copyTo' in checkpoint && checkpoint.pieces !== undefined) return { length, pieces: checkpoint.pieces() }
  const body = Buffer.allocUnsafeSlow(length)
  if ('copyTo' in checkpoint) checkpoint.copyTo(body)
  else body.set(checkpoint)
  return { length, pieces: [body] }
}

export function removeTemporaryCheckpoint(files: FileSystem, folder: string): void {
  files.removeSync(`${folder}/${temporaryName}`)
}
