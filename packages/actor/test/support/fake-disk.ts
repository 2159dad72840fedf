import {
  bytesOfImage,
  createDeferred,
  DiskFullError,
  type Deferred,
  type Disk,
  type DiskContents,
  type DiskImage,
  type DiskUsage,
} from '../../src/index.js'

/** Held appends wait until they are released, as on a slow disk. */
export class FakeDisk implements Disk {
  limitBytes: number
  checkpoint: Uint8Array | null = null
  records: Uint8Array[] = []
  checkpointCount = 0
  /** The number of contexts made with it. */
  lives = 0
  held = false
  readonly #waiting: Deferred<void>[] = []

  constructor(limitBytes = 1_000_000_000) {
    this.limitBytes = limitBytes
  }

  async append(record: Uint8Array): Promise<void> {
    const copy = new Uint8Array(record)
    if (this.held) {
      const turn = createDeferred<void>()
      this.#waiting.push(turn)
      await turn.promise
    }
    if (!this.hasRoom(copy.length)) throw new DiskFullError(this.limitBytes)
    this.records.push(copy)
  }

  async writeCheckpoint(checkpoint: Uint8Array | DiskImage): Promise<void> {
    if (checkpoint.length > this.limitBytes) throw new DiskFullError(this.limitBytes)
    this.checkpoint = 'copyTo' in checkpoint ? bytesOfImage(checkpoint) : new Uint8Array(checkpoint)
    this.records = []
    this.checkpointCount++
  }

  get waiting(): number {
    return this.#waiting.length
  }

  release(): void {
    this.held = false
    for (const turn of this.#waiting.splice(0)) turn.resolve()
  }

  read(): DiskContents {
    return { checkpoint: this.checkpoint, records: [...this.records] }
  }

  hasRoom(recordBytes: number): boolean {
    const { logBytes, checkpointBytes } = this.usage()
    return logBytes + checkpointBytes + recordBytes <= this.limitBytes
  }

  usage(): DiskUsage {
    return {
      logBytes: this.records.reduce((sum, record) => sum + record.length, 0),
      checkpointBytes: this.checkpoint?.length ?? 0,
      limitBytes: this.limitBytes,
    }
  }
}
