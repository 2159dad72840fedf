import {
  bytesOfImage,
  DiskFullError,
  imageOfBytes,
  type Disk,
  type DiskContents,
  type DiskImage,
  type DiskUsage,
} from '@shardlab/actor'
import { RecordLog, recordHeaderBytes } from './record-log.js'

/**
 * A disk as a plain object, for worlds of one thread. It keeps the image of a checkpoint, which
 * shares the memory of its writer, and makes bytes of it only when they are read.
 */
export class MemoryDisk implements Disk {
  readonly keepsImages = true
  readonly #limitBytes: number
  #checkpoint: DiskImage | null = null
  #log = new RecordLog()
  #logBytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** Shares the written bytes, which never change. */
  clone(): MemoryDisk {
    const copy = new MemoryDisk(this.#limitBytes)
    copy.#checkpoint = this.#checkpoint
    copy.#log = this.#log.clone()
    copy.#logBytes = this.#logBytes
    return copy
  }

  append(record: Uint8Array): Promise<void> {
    return this.appendNow(record) ? Promise.resolve() : Promise.reject(new DiskFullError(this.#limitBytes))
  }

  appendNow(record: Uint8Array): boolean {
    if (!this.hasRoom(record.length)) return false
    this.#log.append(record)
    this.#logBytes += recordHeaderBytes + record.length
    return true
  }

  writeCheckpoint(checkpoint: Uint8Array | DiskImage): Promise<void> {
    if (checkpoint.length > this.#limitBytes) return Promise.reject(new DiskFullError(this.#limitBytes))
    this.#checkpoint = 'copyTo' in checkpoint ? checkpoint : imageOfBytes(checkpoint)
    this.#log.clear()
    this.#logBytes = 0
    return Promise.resolve()
  }

  read(): DiskContents {
    return {
      checkpoint: this.#checkpoint === null ? null : bytesOfImage(this.#checkpoint),
      records: this.#log.records(),
    }
  }

  hasRoom(recordBytes: number): boolean {
    return this.#logBytes + (this.#checkpoint?.length ?? 0) + recordHeaderBytes + recordBytes <= this.#limitBytes
  }

  usage(): DiskUsage {
    return { logBytes: this.#logBytes, checkpointBytes: this.#checkpoint?.length ?? 0, limitBytes: this.#limitBytes }
  }
}
