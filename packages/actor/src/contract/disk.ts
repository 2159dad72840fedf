export interface DiskUsage {
  readonly logBytes: number
  readonly checkpointBytes: number
  readonly limitBytes: number
}

/** The bytes of a checkpoint, produced when they are read, and the same at any time. */
export interface DiskImage {
  readonly length: number
  /** @param target at least {@link length} bytes */
  copyTo(target: Uint8Array): void
  /**
   * The same bytes in pieces, which may be read in later turns, so that they are never in memory
   * all at once. Absent: they are small.
   */
  pieces?(): Iterable<Uint8Array>
}

/** Copies the bytes, because the caller may change them. */
export function imageOfBytes(bytes: Uint8Array): DiskImage {
  const copy = new Uint8Array(bytes)
  return { length: copy.length, copyTo: (target) => target.set(copy) }
}

export function bytesOfImage(image: DiskImage): Uint8Array {
  const bytes = new Uint8Array(image.length)
  image.copyTo(bytes)
  return bytes
}

export interface DiskContents {
  /** The last complete checkpoint; null: none was written. */
  readonly checkpoint: Uint8Array | null
  /** Appended since, in order. A record that was being written during the crash is absent. */
  readonly records: Iterable<Uint8Array>
}

/**
 * Belongs to the supervisor: a crash of the member keeps the disk, destroying the member drops it.
 */
export interface Disk {
  /**
   * Appends in the order of the calls. Resolves once the record is on the disk: only then may the
   * write be acknowledged. The bytes are copied before `append` returns.
   * @throws {@link DiskFullError} as a rejection; nothing is written
   */
  append(record: Uint8Array): Promise<void>
  /**
   * The record is on the disk when this returns.
   * @returns false: nothing is written, and the caller must use `append`
   */
  appendNow?(record: Uint8Array): boolean
  /**
   * Replaces the checkpoint and drops all records that were appended before this call. Atomic:
   * after a crash the disk holds either the old checkpoint with its records, or the new one. Bytes
   * are copied before it returns; an image is kept or copied once.
   */
  writeCheckpoint(checkpoint: Uint8Array | DiskImage): Promise<void>
  /**
   * Images are kept without a copy, so a checkpoint costs little and can be written often. Default:
   * false.
   */
  readonly keepsImages?: boolean
  /** Used once, at start. */
  read(): DiskContents
  usage(): DiskUsage
  /** Cheap: nodes ask before each change, to refuse it before it is visible. */
  hasRoom(recordBytes: number): boolean
}
