import { DiskFullError, type Disk, type DiskContents, type DiskUsage } from '@shardlab/actor'

/** What a record takes on a disk beside its bytes. */
export const recordHeaderBytes = 4

/** A disk as a plain object, for the worlds of one thread. */
export class MemoryDisk implements Disk {
  readonly #limitBytes: number
  #checkpoint: Uint8Array | null = null
  #records: Uint8Array[] = []
  #logBytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  append(record: Uint8Array): Promise<void> {
    const sizeBytes = recordHeaderBytes + record.length
    if (this.#logBytes + (this.#checkpoint?.length ?? 0) + sizeBytes > this.#limitBytes)
      return Promise.reject(new DiskFullError(this.#limitBytes))
    // A plain copy: slice() of a Buffer would be a view on the caller's bytes.
    this.#records.push(new Uint8Array(record))
    this.#logBytes += sizeBytes
    return Promise.resolve()
  }

  writeCheckpoint(checkpoint: Uint8Array): Promise<void> {
    if (checkpoint.length > this.#limitBytes) return Promise.reject(new DiskFullError(this.#limitBytes))
    this.#checkpoint = new Uint8Array(checkpoint)
    this.#records = []
    this.#logBytes = 0
    return Promise.resolve()
  }

  read(): DiskContents {
    return { checkpoint: this.#checkpoint, records: [...this.#records] }
  }

  usage(): DiskUsage {
    return { logBytes: this.#logBytes, checkpointBytes: this.#checkpoint?.length ?? 0, limitBytes: this.#limitBytes }
  }
}
