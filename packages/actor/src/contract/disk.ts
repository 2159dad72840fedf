/** What a disk holds, in bytes. */
export interface DiskUsage {
  readonly logBytes: number
  readonly checkpointBytes: number
  readonly limitBytes: number
}

/** The bytes of a checkpoint, which need not be written down before somebody reads them: the same ones whenever that is. */
export interface DiskImage {
  readonly length: number
  /** @param target at least {@link length} bytes */
  copyTo(target: Uint8Array): void
}

/** The image of bytes: of a copy, since whoever has them may change them. */
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

/** What a restarted actor finds. */
export interface DiskContents {
  /** The last complete checkpoint, or null. */
  readonly checkpoint: Uint8Array | null
  /** Every record appended since, in order. A record that was being written when the actor crashed is absent. */
  readonly records: Iterable<Uint8Array>
}

/**
 * A member's disk. It belongs to the runtime's supervisor and outlives the actor: a crash keeps it,
 * destroying the member drops it.
 */
export interface Disk {
  /**
   * Adds one record. Records are ordered as `append` was called. The promise resolves once the record is
   * on the disk: only then may the write be acknowledged. The bytes are copied before `append` returns.
   * @throws {@link DiskFullError} (rejects) and nothing is written.
   */
  append(record: Uint8Array): Promise<void>
  /**
   * {@link append} by a disk that nobody need wait for: the record is on it when this returns.
   * @returns false: nothing is written, and `append` tells why or takes its time
   */
  appendNow?(record: Uint8Array): boolean
  /**
   * Replaces the checkpoint and drops the records that it covers: all appended before this call. Atomic:
   * after a crash the disk holds either the old checkpoint with all records, or the new one. Bytes are copied before
   * it returns; an image is kept, or copied once, as the disk likes.
   */
  writeCheckpoint(checkpoint: Uint8Array | DiskImage): Promise<void>
  /** An image that is written costs nothing but what changes afterwards: checkpoints need not be rare. Default: false. */
  readonly keepsImages?: boolean
  /** Reads everything; used once, at start. */
  read(): DiskContents
  usage(): DiskUsage
  /** Would a record of so many bytes fit? Cheap: asked before each change, so that what does not fit is refused before it is seen. */
  hasRoom(recordBytes: number): boolean
}
