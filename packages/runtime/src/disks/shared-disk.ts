import { DiskFullError, type Disk, type DiskContents, type DiskImage, type DiskUsage } from '@shardlab/actor'
import { recordHeaderBytes } from './record-log.js'

/** Can be posted to a worker, and outlives it. */
export interface SharedDiskBuffers {
  /** No two disks of a process have the same. */
  readonly id: number
  readonly limitBytes: number
  /**
   * Five uint32: the current area, then for each area the length of its checkpoint plus one (0:
   * none) and of its log.
   */
  readonly header: SharedArrayBuffer
  /**
   * Each holds a checkpoint, then the log: records of a uint32 length and their bytes. The owner
   * replaces an area when the writer sends a {@link NewArea}.
   */
  readonly areas: [SharedArrayBuffer, SharedArrayBuffer]
}

/**
 * Takes the place of an area that is not current. The owner must receive it before a restarted
 * writer gets the buffers.
 */
export interface NewArea {
  readonly diskId: number
  readonly area: number
  readonly buffer: SharedArrayBuffer
}

const headerWords = 5
const firstGrowthBytes = 64 * 1024
const largestLimitBytes = 2 ** 32 - 2
/** An area that is not current keeps this much memory for the next checkpoint. */
const spareBytesMax = 16 * 1024 * 1024
/** Of a disk that is idle. */
const idleSpareBytesMax = 1024 * 1024
let lastDiskId = 0

/**
 * The memory of an area grows as the disk fills and never shrinks. A checkpoint is written to the
 * other area, so a disk may use twice the memory of its contents.
 * @throws RangeError for a limit of 4 GiB or more
 */
export function createSharedDisk(limitBytes: number): SharedDiskBuffers {
  if (limitBytes > largestLimitBytes) throw new RangeError(`a disk holds less than 4 GiB, not ${limitBytes} bytes`)
  return {
    id: ++lastDiskId,
    limitBytes,
    header: new SharedArrayBuffer(headerWords * Uint32Array.BYTES_PER_ELEMENT),
    areas: [newArea(limitBytes), newArea(limitBytes)],
  }
}

function newArea(limitBytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(0, { maxByteLength: limitBytes })
}

export function sizeOfSharedDisk({ areas }: SharedDiskBuffers): number {
  return areas[0].byteLength + areas[1].byteLength
}

/**
 * A disk in shared memory. Its writer may be terminated between any two steps, so bytes are valid
 * only once a length in the header covers them, and a checkpoint only once the header names its
 * area.
 *
 * Shared memory cannot shrink, so an area that has become much larger than its contents is replaced
 * by an empty one while it is not current.
 */
export class SharedDisk implements Disk {
  readonly #buffers: SharedDiskBuffers
  readonly #header: Uint32Array
  readonly #onNewArea: (area: NewArea, replacedBytes: number) => void

  /** @param onNewArea must send the area to the owner of the buffers before it returns */
  constructor(buffers: SharedDiskBuffers, onNewArea: (area: NewArea, replacedBytes: number) => void) {
    this.#buffers = buffers
    this.#header = new Uint32Array(buffers.header)
    this.#onNewArea = onNewArea
  }

  append(record: Uint8Array): Promise<void> {
    return this.appendNow(record) ? Promise.resolve() : Promise.reject(new DiskFullError(this.#buffers.limitBytes))
  }

  appendNow(record: Uint8Array): boolean {
    const area = this.#current
    const { checkpointBytes, logBytes, limitBytes } = this.usage()
    const start = checkpointBytes + logBytes
    const end = start + recordHeaderBytes + record.length
    if (end > limitBytes) return false
    const buffer = this.#grown(area, end)
    new DataView(buffer).setUint32(start, record.length)
    new Uint8Array(buffer, start + recordHeaderBytes, record.length).set(record)
    Atomics.store(this.#header, 2 + area * 2, logBytes + recordHeaderBytes + record.length)
    return true
  }

  writeCheckpoint(checkpoint: Uint8Array | DiskImage): Promise<void> {
    const { limitBytes } = this.#buffers
    if (checkpoint.length > limitBytes) return Promise.reject(new DiskFullError(limitBytes))
    const other = 1 - this.#current
    this.#replaceIfOversized(other, checkpoint.length)
    const target = new Uint8Array(this.#grown(other, checkpoint.length), 0, checkpoint.length)
    if ('copyTo' in checkpoint) checkpoint.copyTo(target)
    else target.set(checkpoint)
    // Plus one: an empty checkpoint differs from none.
    Atomics.store(this.#header, 1 + other * 2, checkpoint.length + 1)
    Atomics.store(this.#header, 2 + other * 2, 0)
    Atomics.store(this.#header, 0, other)
    this.#replaceIfOversized(1 - other, checkpoint.length)
    return Promise.resolve()
  }

  #replaceIfOversized(area: number, checkpointBytes: number): void {
    // Not in a steady state: then an area has grown to at most twice the size of a checkpoint and a
    // log, which is twice as long.
    if (this.#buffers.areas[area]!.byteLength > Math.max(spareBytesMax, 6 * checkpointBytes)) this.#replace(area)
  }

  /** For a writer that is idle. */
  trim(): void {
    const current = this.#current
    const { checkpointBytes, logBytes } = this.usage()
    const usedBytes = checkpointBytes + logBytes
    if (this.#buffers.areas[current]!.byteLength > Math.max(idleSpareBytesMax, 4 * usedBytes)) this.#move(usedBytes)
    const spare = 1 - this.#current
    if (this.#buffers.areas[spare]!.byteLength > idleSpareBytesMax) this.#replace(spare)
  }

  /** Copies the contents to the other area. */
  #move(usedBytes: number): void {
    const from = this.#current
    const to = 1 - from
    if (this.#buffers.areas[to]!.byteLength > idleSpareBytesMax) this.#replace(to)
    new Uint8Array(this.#grown(to, usedBytes)).set(new Uint8Array(this.#buffers.areas[from]!, 0, usedBytes))
    for (const word of [1, 2]) Atomics.store(this.#header, word + to * 2, Atomics.load(this.#header, word + from * 2))
    Atomics.store(this.#header, 0, to)
  }

  #replace(area: number): void {
    const buffer = newArea(this.#buffers.limitBytes)
    this.#onNewArea({ diskId: this.#buffers.id, area, buffer }, this.#buffers.areas[area]!.byteLength)
    this.#buffers.areas[area] = buffer
  }

  read(): DiskContents {
    const area = this.#current
    const { checkpointBytes, logBytes } = this.usage()
    const bytes = new Uint8Array(this.#buffers.areas[area]!)
    const view = new DataView(this.#buffers.areas[area]!)
    const hasCheckpoint = Atomics.load(this.#header, 1 + area * 2) > 0
    const records: Uint8Array[] = []
    for (let at = checkpointBytes; at < checkpointBytes + logBytes;) {
      const start = at + recordHeaderBytes
      at = start + view.getUint32(at)
      records.push(copyOf(bytes, start, at))
    }
    return { checkpoint: hasCheckpoint ? copyOf(bytes, 0, checkpointBytes) : null, records }
  }

  usage(): DiskUsage {
    const area = this.#current
    return {
      logBytes: Atomics.load(this.#header, 2 + area * 2),
      checkpointBytes: Math.max(Atomics.load(this.#header, 1 + area * 2) - 1, 0),
      limitBytes: this.#buffers.limitBytes,
    }
  }

  hasRoom(recordBytes: number): boolean {
    const { logBytes, checkpointBytes, limitBytes } = this.usage()
    return checkpointBytes + logBytes + recordHeaderBytes + recordBytes <= limitBytes
  }

  get #current(): number {
    return Atomics.load(this.#header, 0)
  }

  #grown(area: number, neededBytes: number): SharedArrayBuffer {
    const buffer = this.#buffers.areas[area]!
    if (buffer.byteLength < neededBytes) {
      buffer.grow(Math.min(Math.max(neededBytes, buffer.byteLength * 2, firstGrowthBytes), this.#buffers.limitBytes))
    }
    return buffer
  }
}

/** Many functions of the platform refuse views on shared memory. */
function copyOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const copy = new Uint8Array(end - start)
  copy.set(bytes.subarray(start, end))
  return copy
}
