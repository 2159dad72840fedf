/** The log file that is written to. */
import type { FileSystem } from './file-system.js'
import { isNoSpace, syncFolder, writeFully } from './file-system.js'
import { flushed, readFully } from './checkpoint-file.js'
import { encodeFileHeader, encodeFrame, fileHeaderBytes, frameBytes, seedOf } from './frame-codec.js'
import { allocationBytes, logName, type LogEnd } from './log-file.js'

const smallFrameBytes = 64 * 1024
const temporaryName = 'log.tmp'

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
   * When it returns, file and folder are flushed. A file with the name of a log is always whole.
   * @throws Error of the file system. If it says that there is no space, no file is left.
   */
  static create(
    files: FileSystem,
    folder: string,
    { number, diskId, endOfPrevious }: { number: number; diskId: Uint8Array; endOfPrevious: number },
  ): OpenLogFile {
    const temporary = `${folder}/${temporaryName}`
    const header = encodeFileHeader('SHARDLOG', { number, diskId, bytes: endOfPrevious })
    const fd = files.openSync(temporary, 'w+')
    try {
      const first = Buffer.alloc(allocationBytes)
      first.set(header)
      writeFully(files, fd, first, 0)
      files.fsyncSync(fd)
      files.renameSync(temporary, `${folder}/${logName(number)}`)
    } catch (error) {
      files.closeSync(fd)
      files.removeSync(temporary)
      throw error
    }
    try {
      syncFolder(files, folder)
    } catch (error) {
      files.closeSync(fd)
      // Whatever the code is: the name may be on the disk, so the file before may not grow.
      throw new Error(`${folder} cannot be flushed`, { cause: error })
    }
    const position = { at: fileHeaderBytes, ordinal: 0, allocated: allocationBytes }
    return new OpenLogFile(files, { number, fd, seed: seedOf(header) }, position)
  }

  /** Continues after the last frame. When it returns, all frames are flushed. */
  static reopen(files: FileSystem, path: string, file: { number: number; seed: number }, end: LogEnd): OpenLogFile {
    const fd = files.openSync(path, 'r+')
    try {
      const allocated = end.isZeroed ? end.sizeBytes : end.at
      const log = new OpenLogFile(files, { ...file, fd }, { at: end.at, ordinal: end.ordinal, allocated })
      if (!end.isZeroed) files.ftruncateSync(fd, end.at)
      log.#allocate()
      log.#rewrite(end.lastAt, path)
      files.fsyncSync(fd)
      return log
    } catch (error) {
      files.closeSync(fd)
      throw error
    }
  }

  /** Zeros up to a multiple of the step, if there is space. */
  #allocate(): void {
    const allocated = Math.ceil(this.#allocated / allocationBytes) * allocationBytes
    if (allocated > this.#allocated && this.#fits(Buffer.alloc(allocated - this.#at))) this.#allocated = allocated
  }

  /**
   * The last frame may be in the memory of the system alone. After a flush that failed, the system
   * takes it for flushed: only bytes that are written again reach the disk.
   */
  #rewrite(from: number, path: string): void {
    const bytes = Buffer.allocUnsafeSlow(this.#at - from)
    readFully(this.#files, this.#fd, bytes, from, path)
    writeFully(this.#files, this.#fd, bytes, from)
  }

  get end(): number {
    return this.#at
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

/** What a crash has left of a file that was being created. */
export function removeTemporaryLog(files: FileSystem, folder: string): void {
  files.removeSync(`${folder}/${temporaryName}`)
}
