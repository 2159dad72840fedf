/** Reading log files: which frames are whole, and what a bad place means. */
import { DiskDamagedError } from './disk-damaged-error.js'
import { readFully } from './checkpoint-file.js'
import type { FileSystem } from './file-system.js'
import {
  decodeFileHeader,
  decodeFrameHeader,
  fileHeaderBytes,
  findFrame,
  frameHeaderBytes,
  isPayload,
  recordsIn,
  seedOf,
  type FileHeader,
} from './frame-codec.js'

export const logName = (number: number): string => `log-${String(number).padStart(8, '0')}`

/** Frames are followed by zeros up to a multiple of this, so that most writes change no length. */
export const allocationBytes = 1024 * 1024

export interface LogEnd {
  /** Where the next frame begins. */
  readonly at: number
  /** Its number in the file. */
  readonly ordinal: number
  /** Where the last frame begins; without one, the header. */
  readonly lastAt: number
  readonly sizeBytes: number
  /** Only zeros follow the frames, as they were written. */
  readonly isZeroed: boolean
}

/** What a crash has left at the end of the newest file, as a sentence; null: nothing. */
export function tornBy(path: string, { at, sizeBytes, isZeroed }: LogEnd): string | null {
  if (!isZeroed)
    return `${path} ends with a write that was not completed: a record is not complete. Dropped ${sizeBytes - at} bytes from byte ${at} on.`
  if (sizeBytes > at || at % allocationBytes === 0) return null
  return `${path} ends at byte ${at}, after a record, as on a full disk: if the disk was not full, later records are missing.`
}

export class LogFile {
  readonly path: string
  readonly header: FileHeader
  readonly seed: number
  readonly #files: FileSystem
  readonly #sizeBytes: number

  /** @throws DiskDamagedError, DiskRefusedError */
  constructor(files: FileSystem, folder: string, number: number, diskId: Uint8Array | null) {
    this.#files = files
    this.path = `${folder}/${logName(number)}`
    this.#sizeBytes = files.sizeSync(this.path)
    const head = this.#read(0, Math.min(fileHeaderBytes, this.#sizeBytes))
    this.header = decodeFileHeader(head, this.path, { kind: 'SHARDLOG', number, diskId })
    this.seed = seedOf(head)
  }

  /**
   * The records of all frames.
   * @throws DiskDamagedError a valid frame follows a bad place
   */
  *records(): Generator<Uint8Array, LogEnd, void> {
    const fd = this.#files.openSync(this.path, 'r')
    let at = fileHeaderBytes
    let ordinal = 0
    let lastAt = 0
    try {
      const head = Buffer.alloc(frameHeaderBytes)
      for (;;) {
        if (at + frameHeaderBytes > this.#sizeBytes) break
        readFully(this.#files, fd, head, at, this.path)
        const frame = decodeFrameHeader(head, 0, this.seed)
        const start = at + frameHeaderBytes
        if (frame === null || frame.ordinal !== ordinal || start + frame.payloadBytes > this.#sizeBytes) break
        const payload = Buffer.allocUnsafeSlow(frame.payloadBytes)
        readFully(this.#files, fd, payload, start, this.path)
        if (!isPayload(payload, frame)) break
        yield* recordsIn(payload)
        lastAt = at
        at = start + frame.payloadBytes
        ordinal++
      }
    } finally {
      this.#files.closeSync(fd)
    }
    return { at, ordinal, lastAt, sizeBytes: this.#sizeBytes, isZeroed: this.#isZeroedFrom(at, ordinal) }
  }

  /** @throws DiskDamagedError */
  #isZeroedFrom(at: number, ordinal: number): boolean {
    const rest = this.#read(at, this.#sizeBytes - at)
    if (findFrame(rest, 0, this.seed, ordinal - 1) >= 0)
      throw new DiskDamagedError(this.path, at, 'a record has a wrong checksum, and valid records follow it')
    return isZero(rest)
  }

  #read(at: number, length: number): Buffer {
    const bytes = Buffer.alloc(length)
    const fd = this.#files.openSync(this.path, 'r')
    try {
      readFully(this.#files, fd, bytes, at, this.path)
    } finally {
      this.#files.closeSync(fd)
    }
    return bytes
  }
}

const zeros = Buffer.alloc(64 * 1024)

function isZero(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at += zeros.length) {
    const part = bytes.subarray(at, at + zeros.length)
    if (!part.equals(zeros.subarray(0, part.length))) return false
  }
  return true
}
