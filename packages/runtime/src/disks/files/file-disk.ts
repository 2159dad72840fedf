/**
 * A disk in a folder: a checkpoint, and log files since. All appends that arrive while one flush is
 * under way share the next one. A checkpoint is written beside the appends that follow it.
 */
import { randomBytes } from 'node:crypto'
import { DiskFullError, type Disk, type DiskContents, type DiskImage, type DiskUsage } from '@shardlab/actor'
import { never } from '../../host/never.js'
import { readChecked, writeChecked } from './checked-text.js'
import {
  checkpointName,
  readCheckpointFile,
  readImage,
  removeTemporaryCheckpoint,
  writeCheckpointFile,
  type ReadImage,
} from './checkpoint-file.js'
import { DiskDamagedError } from './disk-damaged-error.js'
import { isNoSpace, syncFolder, type FileSystem } from './file-system.js'
import { diskIdBytes, frameHeaderBytes } from './frame-codec.js'
import { FreeSpace } from './free-space.js'
import { LogFile, logName, tornBy, type LogEnd } from './log-file.js'
import { OpenLogFile, removeTemporaryLog } from './open-log-file.js'

const closedName = 'closed'
const recordHeaderBytes = 4

interface Append {
  readonly record: Uint8Array
  readonly done: () => void
  readonly failed: (error: unknown) => void
}

interface Checkpoint {
  readonly image: ReadImage
  readonly done: () => void
  readonly failed: (error: unknown) => void
}

export interface FileDiskOptions {
  readonly files: FileSystem
  readonly folder: string
  readonly limitBytes: number
  /** Called during {@link FileDisk.read} with a sentence about what a crash has left. */
  readonly onRepaired: (message: string) => void
}

export class FileDisk implements Disk {
  readonly #options: FileDiskOptions
  readonly #files: FileSystem
  readonly #folder: string
  readonly #space: FreeSpace
  #diskId = new Uint8Array(0)
  /** Null: not read yet, or closed. */
  #log: OpenLogFile | null = null
  readonly #queue: (Append | Checkpoint)[] = []
  #queuedBytes = 0
  #isRunning = false
  #running: Promise<void> | null = null
  #checkpointing: Promise<void> | null = null
  #logBytes = 0
  #checkpointBytes = 0
  /** The oldest log file that recovery needs. */
  #firstLog = 1
  #isAbandoned = false
  /** The file that notes the end of the log is there, and still true. */
  #isNotedAsClosed = false
  /** After an error of the file system it is unknown what is on the disk, so nothing more is. */
  #broken: Error | null = null

  constructor(options: FileDiskOptions) {
    this.#options = options
    this.#files = options.files
    this.#folder = options.folder
    this.#space = new FreeSpace(options.files, options.folder)
  }

  /** Makes an empty disk in an empty folder. */
  static create(files: FileSystem, folder: string): void {
    const diskId = new Uint8Array(randomBytes(diskIdBytes))
    OpenLogFile.create(files, folder, { number: 1, diskId, endOfPrevious: 0 }).close()
  }

  append(record: Uint8Array): Promise<void> {
    if (this.#isAbandoned) return never()
    if (this.#broken !== null) return Promise.reject(this.#broken)
    const bytes = recordHeaderBytes + record.length
    if (!this.#isWithinLimit(bytes)) return Promise.reject(new DiskFullError(this.usage().limitBytes))
    this.#queuedBytes += bytes
    return new Promise((done, failed) => {
      // A writer that is idle writes it before this returns.
      this.#enqueue({ record: this.#isRunning ? new Uint8Array(record) : record, done, failed })
    })
  }

  writeCheckpoint(checkpoint: Uint8Array | DiskImage): Promise<void> {
    if (this.#isAbandoned) return never()
    if (this.#broken !== null) return Promise.reject(this.#broken)
    if (checkpoint.length > this.#options.limitBytes) return Promise.reject(new DiskFullError(this.#options.limitBytes))
    const image = readImage(checkpoint)
    return new Promise((done, failed) => this.#enqueue({ image, done, failed }))
  }

  usage(): DiskUsage {
    const { limitBytes } = this.#options
    const usedBytes = this.#logBytes + this.#checkpointBytes
    return {
      logBytes: this.#logBytes,
      checkpointBytes: this.#checkpointBytes,
      limitBytes: this.#space.isFull ? Math.min(limitBytes, usedBytes) : limitBytes,
    }
  }

  hasRoom(recordBytes: number): boolean {
    if (!this.#isWithinLimit(recordHeaderBytes + recordBytes)) return false
    return this.#space.has(recordBytes, (bytes) => this.#log?.probe(bytes) === true)
  }

  #isWithinLimit(bytes: number): boolean {
    const usedBytes = this.#logBytes + this.#checkpointBytes + this.#queuedBytes
    return usedBytes + frameHeaderBytes + bytes <= this.#options.limitBytes
  }

  /** @throws DiskDamagedError, DiskRefusedError; while the records are read, too */
  read(): DiskContents {
    removeTemporaryCheckpoint(this.#files, this.#folder)
    removeTemporaryLog(this.#files, this.#folder)
    const names = this.#files.namesSync(this.#folder)
    const checkpoints = numbersOf(names, checkpointName)
    this.#firstLog = checkpoints.at(-1) ?? 1
    const logs = this.#openLogs(numbersOf(names, logName))
    const last = checkpoints.at(-1)
    const checkpoint =
      last === undefined ? null : readCheckpointFile(this.#files, this.#folder, { number: last, diskId: this.#diskId })
    this.#checkpointBytes = checkpoint?.length ?? 0
    // Names of before a crash may be in the memory of the system alone.
    syncFolder(this.#files, this.#folder)
    this.#removeBefore(this.#firstLog)
    return { checkpoint, records: this.#replay(logs) }
  }

  #openLogs(numbers: readonly number[]): LogFile[] {
    const logs: LogFile[] = []
    const needed = numbers.filter((number) => number >= this.#firstLog)
    for (let number = this.#firstLog; number <= (needed.at(-1) ?? this.#firstLog); number++) {
      if (!needed.includes(number))
        throw new DiskDamagedError(`${this.#folder}/${logName(number)}`, null, 'the file is missing')
      const log = new LogFile(this.#files, this.#folder, number, logs[0]?.header.diskId ?? null)
      logs.push(log)
    }
    this.#diskId = new Uint8Array(logs[0]!.header.diskId)
    return logs
  }

  *#replay(logs: readonly LogFile[]): Generator<Uint8Array, void, void> {
    const closed = readChecked(this.#files, this.#folder, closedName) as LogPosition | undefined
    for (const [i, log] of logs.entries()) {
      let payloadBytes = 0
      const records = log.records()
      let next = records.next()
      for (; next.done !== true; next = records.next()) {
        payloadBytes += recordHeaderBytes + next.value.length
        yield next.value
      }
      this.#logBytes += payloadBytes + next.value.ordinal * frameHeaderBytes
      const following = logs[i + 1]
      if (following !== undefined) this.#check(log, next.value, following.header.bytes)
      else this.#continue(log, next.value, closed ?? null)
    }
  }

  #continue(log: LogFile, end: LogEnd, closed: LogPosition | null): void {
    if (closed !== null) {
      if (closed.log !== log.header.number)
        throw new DiskDamagedError(`${this.#folder}/${logName(closed.log)}`, null, 'the file is missing')
      this.#check(log, end, closed.end)
      this.#isNotedAsClosed = true
    } else {
      const torn = tornBy(log.path, end)
      if (torn !== null) this.#options.onRepaired(torn)
    }
    this.#log = OpenLogFile.reopen(this.#files, log.path, { number: log.header.number, seed: log.seed }, end)
  }

  /** @throws DiskDamagedError records are missing */
  #check({ path }: LogFile, { at, isZeroed }: LogEnd, expected: number): void {
    if (at !== expected)
      throw new DiskDamagedError(path, Math.min(at, expected), `its records end at byte ${at} instead of ${expected}`)
    if (!isZeroed)
      this.#options.onRepaired(`${path} has no damaged record, and other bytes after byte ${at} than were written.`)
  }

  /**
   * Before the log grows. Until then the next start, too, notices what is missing, even if this one
   * is refused because of another member.
   */
  #forgetClosed(): void {
    if (!this.#isNotedAsClosed) return
    this.#files.removeSync(`${this.#folder}/${closedName}`)
    syncFolder(this.#files, this.#folder)
    this.#isNotedAsClosed = false
  }

  #enqueue(work: Append | Checkpoint): void {
    this.#queue.push(work)
    if (!this.#isRunning) this.#running = this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#queue.length > 0 && !this.#isAbandoned) {
      try {
        if ('image' in this.#queue[0]!) await this.#beginCheckpoint(this.#queue.shift() as Checkpoint)
        else await this.#writeAppends(this.#takeAppends())
      } catch (error) {
        this.#fail(error)
      }
    }
    this.#isRunning = false
  }

  #takeAppends(): Append[] {
    const end = this.#queue.findIndex((work) => 'image' in work)
    return this.#queue.splice(0, end < 0 ? this.#queue.length : end) as Append[]
  }

  async #writeAppends(appends: readonly Append[]): Promise<void> {
    for (const { record } of appends) this.#queuedBytes -= recordHeaderBytes + record.length
    const log = this.#log!
    try {
      this.#forgetClosed()
      const bytes = log.write(appends.map(({ record }) => record))
      if (bytes === 0) {
        this.#space.wasRefused()
        for (const { failed } of appends) failed(new DiskFullError(this.usage().limitBytes))
        return
      }
      this.#logBytes += bytes
      this.#space.used(bytes)
      await log.flush()
    } catch (error) {
      for (const { failed } of appends) failed(error)
      throw error
    }
    if (!this.#isAbandoned) for (const { done } of appends) done()
  }

  /** Everything before it is flushed. Later appends go to the next log file. */
  async #beginCheckpoint(checkpoint: Checkpoint): Promise<void> {
    const { image, failed } = checkpoint
    await this.#checkpointing
    if (this.#isAbandoned) return
    const previous = this.#log!
    const number = previous.number + 1
    const coveredBytes = this.#logBytes
    try {
      this.#forgetClosed()
      this.#log = OpenLogFile.create(this.#files, this.#folder, {
        number,
        diskId: this.#diskId,
        endOfPrevious: previous.end,
      })
    } catch (error) {
      if (!isNoSpace(error)) failed(error)
      else this.#refuseCheckpoint(failed)
      if (!isNoSpace(error)) throw error
      return
    }
    previous.close()
    this.#checkpointing = this.#writeCheckpoint(number, image, coveredBytes).then(
      (isWritten) => {
        if (isWritten) checkpoint.done()
      },
      (error: unknown) => {
        if (isNoSpace(error)) this.#refuseCheckpoint(failed)
        else {
          failed(error)
          this.#fail(error)
        }
      },
    )
  }

  #refuseCheckpoint(failed: (error: unknown) => void): void {
    this.#space.wasRefused()
    failed(new DiskFullError(this.usage().limitBytes))
  }

  async #writeCheckpoint(number: number, image: ReadImage, coveredBytes: number): Promise<boolean> {
    const isNeeded = () => !this.#isAbandoned
    const file = { number, diskId: this.#diskId, image }
    if (!(await writeCheckpointFile(this.#files, this.#folder, file, isNeeded))) return false
    this.#logBytes -= coveredBytes
    this.#checkpointBytes = image.length
    this.#firstLog = number
    this.#removeBefore(number)
    this.#space.released()
    return true
  }

  /** Of files that are left by a crash, too. */
  #removeBefore(number: number): void {
    const names = this.#files.namesSync(this.#folder)
    for (const nameOf of [checkpointName, logName])
      for (const old of numbersOf(names, nameOf))
        if (old < number) this.#files.removeSync(`${this.#folder}/${nameOf(old)}`)
  }

  /** Retrying after a failed flush would acknowledge what may be lost. */
  #fail(error: unknown): void {
    this.#broken ??= error instanceof Error ? error : new Error(String(error))
    for (const { failed } of this.#queue.splice(0)) failed(error)
  }

  /**
   * Ends this incarnation without warning. Another one may read the folder in the same thread:
   * nothing of it changes any more.
   */
  abandon(): void {
    if (this.#isAbandoned) return
    this.#isAbandoned = true
    this.#queue.length = 0
    const log = this.#log
    this.#log = null
    // A flush that is under way needs the file.
    if (log !== null) void Promise.allSettled([this.#running]).then(() => log.close())
  }

  /** Ends in order: notes where the log ends, so that the next start notices any loss. */
  async close(): Promise<void> {
    do {
      await this.#running
      await this.#checkpointing
    } while (this.#isRunning)
    if (this.#isAbandoned || this.#log === null) return
    const { number: log, end } = this.#log
    const position: LogPosition = { log, end }
    const isBroken = this.#broken !== null
    this.abandon()
    if (isBroken) return
    try {
      writeChecked(this.#files, this.#folder, closedName, position)
    } catch (error) {
      // The next start reads the log as after a crash.
      if (!isNoSpace(error)) throw error
    }
  }
}

interface LogPosition {
  readonly log: number
  readonly end: number
}

/** In ascending order. */
function numbersOf(names: readonly string[], nameOf: (number: number) => string): number[] {
  return names
    .map((name) => [name, Number(/-(\d{8,})$/.exec(name)?.[1])] as const)
    .filter(([name, number]) => number > 0 && name === nameOf(number))
    .map(([, number]) => number)
    .toSorted((a, b) => a - b)
}
