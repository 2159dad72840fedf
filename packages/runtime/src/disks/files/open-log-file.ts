/** The log file that is written to. */
import type { FileSystem } from './file-system.js'
import { isNoSpace, syncFolder, writeFully } from './file-system.js'
import { flushed } from './checkpoint-file.js'
import { encodeFileHeader, encodeFrame, fileHeaderBytes, frameBytes, seedOf } from './frame-codec.js'
import { allocationBytes, logName, type LogEnd } from './log-file.js'

const smallFrameBytes = 64 * 1024

export class OpenLogFile {
  readonly number: number
  readonly #files: FileSystem
  readonly #fd: number
  readonly #seed: number
  #at: number
  #ordinal: number
  #allocated: number
  #scratch = Buffer.alloc(0)

  private constructor(
    files: FileSystem,
    { number, fd, seed }: { readonly number: number; readonly fd: number; readonly seed: number },
    { at, ordinal, allocated }: { readonly at: number; readonly ordinal: number; readonly allocated: number },
  ) {
    this.#files = files
    this.number = number
    this.#fd = fd
    this.#seed = seed
    this.#at = at
    this.#ordinal = ordinal
    this.#allocated = allocated
  }

  /**
   * When it returns, file and folder are flushed.
   * @throws Error of the file system; no file is left
   */
  static create(
    files: FileSystem,
    folder: string,
    { number, diskId, endOfPrevious }: { number: number; diskId: Uint8Array; endOfPrevious: number },
  ): OpenLogFile {
    const path = `${folder}/${logName(number)}`
    // A crash may have left one without a frame.
    files.removeSync(path)
    const fd = files.openSync(path, 'wx+')
    try {
      const header = encodeFileHeader('SHARDLOG', { number, diskId, bytes: endOfPrevious })
      const first = Buffer.alloc(allocationBytes)
      first.set(header)
      writeFully(files, fd, first, 0)
      files.fsyncSync(fd)
      syncFolder(files, folder)
      const position = { at: fileHeaderBytes, ordinal: 0, allocated: allocationBytes }
      return new OpenLogFile(files, { number, fd, seed: seedOf(header) }, position)
    } catch (error) {
      files.closeSync(fd)
      files.removeSync(path)
      throw error
    }
  }

  /** Removes what follows the last frame, and continues there. */
  static reopen(files: FileSystem, path: string, file: { number: number; seed: number }, end: LogEnd): OpenLogFile {
    const fd = files.openSync(path, 'r+')
    if (!end.isZeroed) {
      files.ftruncateSync(fd, end.at)
      files.fsyncSync(fd)
    }
    const allocated = end.isZeroed ? end.sizeBytes : end.at
    return new OpenLogFile(files, { ...file, fd }, { at: end.at, ordinal: end.ordinal, allocated })
  }

  get end(): number {
    return this.#at
  }

  get size(): number {
    return this.#allocated
  }

  /**
   * Writes one frame. It survives the process, and power loss after {@link flush}.
   * @returns its bytes; 0: there is no space, and nothing has changed
   */
  write(records: readonly Uint8Array[]): number {
    const length = frameBytes(records)
    const end = this.#at + length
    const isLonger = end > this.#allocated
    const allocated = isLonger ? Math.ceil(end / allocationBytes) * allocationBytes : this.#allocated
    const bytes = this.#buffer(isLonger ? allocated - this.#at : length)
    encodeFrame(bytes, this.#seed, this.#ordinal, records)
    if (isLonger) bytes.fill(0, length)
    if (this.#fits(bytes)) this.#allocated = allocated
    // Near the end of the space, the frame may fit without the zeros.
    else if (isLonger && this.#fits(bytes.subarray(0, length))) this.#allocated = end
    else return 0
    this.#at = end
    this.#ordinal++
    return length
  }

  #fits(bytes: Uint8Array): boolean {
    try {
      writeFully(this.#files, this.#fd, bytes, this.#at)
      return true
    } catch (error) {
      if (!isNoSpace(error)) throw error
      this.#files.ftruncateSync(this.#fd, this.#at)
      this.#allocated = this.#at
      return false
    }
  }

  #buffer(length: number): Buffer {
    if (length > smallFrameBytes) return Buffer.allocUnsafeSlow(length)
    if (this.#scratch.length === 0) this.#scratch = Buffer.allocUnsafeSlow(smallFrameBytes)
    return this.#scratch.subarray(0, length)
  }

  /** Whether so many bytes could be written now. */
  probe(length: number): boolean {
    const fits = this.#fits(Buffer.alloc(length))
    if (fits) this.#files.ftruncateSync(this.#fd, this.#at)
    this.#allocated = this.#at
    return fits
  }

  flush(): Promise<void> {
    return flushed(this.#files, this.#fd)
  }

  close(): void {
    this.#files.closeSync(this.#fd)
  }
}
