/** The contents and the limit of a disk, in bytes. */
export interface DiskUsage {
  readonly logBytes: number
  readonly checkpointBytes: number
  readonly limitBytes: number
}

/** The bytes of a checkpoint, produced when they are read. They do not change, whenever that is. */
export interface DiskImage {
  readonly length: number
  /** @param target at least {@link length} bytes */
  copyTo(target: Uint8Array): void
}

/** An image of a copy of the bytes, because the caller may change them. */
export function imageOfBytes(bytes: Uint8Array): DiskImage {
  const copy = new Uint8Array(bytes)
  return { length: copy.length, copyTo: (target) => target.set(copy) }
}

/** The bytes of an image. */
export function bytesOfImage(image: DiskImage): Uint8Array {
  const bytes = new Uint8Array(image.length)
  image.copyTo(bytes)
  return bytes
}

/** The contents of a disk, for a restarted actor. */
export interface DiskContents {
  /** The last complete checkpoint; null: none was written. */
  readonly checkpoint: Uint8Array | null
  /**
   * Every record appended since, in order. A record that was being written when the actor crashed
   * is absent.
   */
  readonly records: Iterable<Uint8Array>
}

/**
 * A member's disk. It belongs to the runtime's supervisor: a crash keeps it, destroying the member
 * drops it.
 */
export interface Disk {
  /**
   * Adds one record, in the order of the calls. The promise resolves once the record is on the
   * disk: only then may the write be acknowledged. The bytes are copied before `append` returns.
   * @throws {@link DiskFullError} as a rejection; nothing is written
   */
  append(record: Uint8Array): Promise<void>
  /**
   * A synchronous {@link append}: the record is on the disk when this returns.
   * @returns false: nothing is written, and the caller must use `append`
   */
  appendNow?(record: Uint8Array): boolean
  /**
   * Replaces the checkpoint and drops the records that it covers, which are all that were appended
   * before this call. Atomic: after a crash the disk holds either the old checkpoint with its
   * records, or the new one. Bytes are copied before it returns; an image is kept or copied once.
   */
  writeCheckpoint(checkpoint: Uint8Array | DiskImage): Promise<void>
  /**
   * Whether images are kept without a copy, so that a checkpoint costs little and can be written
   * often. Default: false.
   */
  readonly keepsImages?: boolean
  /** Reads everything; used once, at start. */
  read(): DiskContents
  usage(): DiskUsage
  /**
   * Whether a record of so many bytes fits. Cheap: nodes ask before each change, to refuse it
   * before it is visible.
   */
  hasRoom(recordBytes: number): boolean
}
