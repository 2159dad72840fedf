/**
 * A disk that also keeps documents of the member itself, which are not replicated: its
 * configuration, its last vote, and files of rollbacks. They are neither in the log nor in the
 * data, so neither a rollback nor an initial sync affects them. Server: `local.system.replset`,
 * `local.replset.election`, `<dbPath>/rollback`.
 */
import { imageOfBytes, type Disk, type DiskContents, type DiskImage, type DiskUsage } from '@shardlab/actor'
import { BsonType, DocumentWriter, fieldsOf, readUint32 } from '@shardlab/bson'
import type { LockableDisk } from '../../host/write-lock.js'

/** Records of the log begin with the length of their first entry, which is never 0. */
const markBytes = 4

/** Null: the document is removed. */
type Change = readonly [name: string, document: Uint8Array | null]

export class DiskWithDocuments implements Disk, LockableDisk {
  readonly #disk: Disk
  readonly #documents = new Map<string, Uint8Array>()
  /** Not on the disk yet. */
  readonly #appending = new Set<Change>()
  /** Writes that wait for {@link unlock}; null: it is not locked. */
  #waiting: (() => void)[] | null = null
  readonly #writing = new Set<Promise<void>>()
  /** Of the documents in the checkpoint. */
  #headBytes = 0
  /** Of the records of documents after it. */
  #recordBytes = 0

  constructor(disk: Disk) {
    this.#disk = disk
  }

  /** @returns undefined: none is stored. Call `read` first */
  document(name: string): Uint8Array | undefined {
    return this.#documents.get(name)
  }

  /** In the order in which they were first stored. */
  names(): string[] {
    return [...this.#documents.keys()]
  }

  /**
   * @throws DiskFullError as a rejection; a checkpoint that began during the write may have the
   * change
   */
  storeDocument(name: string, document: Uint8Array): Promise<void> {
    return this.#append(new DocumentWriter(document.length + 64).document(name, document).finish(), name, document)
  }

  /**
   * @throws DiskFullError as a rejection; a checkpoint that began during the write may have the
   * change
   */
  removeDocument(name: string): Promise<void> {
    return this.#append(new DocumentWriter(64).null(name).finish(), name, null)
  }

  async #append(fields: Uint8Array, name: string, document: Uint8Array | null): Promise<void> {
    const record = new Uint8Array(markBytes + fields.length)
    record.set(fields, markBytes)
    const change: Change = [name, document]
    this.#appending.add(change)
    try {
      await this.append(record)
    } finally {
      this.#appending.delete(change)
    }
    this.#recordBytes += record.length
    apply(this.#documents, change)
  }

  /** In a copy, which does not {@link read} its disk. */
  adoptDocument(name: string, document: Uint8Array): void {
    this.#documents.set(name, document)
  }

  append(record: Uint8Array): Promise<void> {
    if (this.#waiting === null) return this.#tracked(this.#disk.append(record))
    const copy = new Uint8Array(record)
    return this.#afterUnlock(() => this.append(copy))
  }

  appendNow(record: Uint8Array): boolean {
    return this.#waiting === null && this.#disk.appendNow?.(record) === true
  }

  writeCheckpoint(checkpoint: Uint8Array | DiskImage): Promise<void> {
    const image = checkpoint instanceof Uint8Array ? imageOfBytes(checkpoint) : checkpoint
    return this.#waiting === null
      ? this.#tracked(this.#writeCheckpoint(image))
      : this.#afterUnlock(() => this.writeCheckpoint(image))
  }

  async lock(): Promise<void> {
    this.#waiting ??= []
    await Promise.allSettled(this.#writing)
  }

  unlock(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = null
    for (const write of waiting) write()
  }

  /** In the order of the calls. */
  #afterUnlock(write: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting!.push(() => void write().then(resolve, reject))
    })
  }

  #tracked(write: Promise<void>): Promise<void> {
    this.#writing.add(write)
    const end = (): void => void this.#writing.delete(write)
    write.then(end, end)
    return write
  }

  async #writeCheckpoint(image: DiskImage): Promise<void> {
    const head = this.#head()
    await this.#disk.writeCheckpoint({
      length: head.length + image.length,
      copyTo(target) {
        target.set(head)
        image.copyTo(target.subarray(head.length))
      },
      ...(image.pieces === undefined ? {} : { pieces: () => withHead(head, image.pieces!()) }),
    })
    this.#headBytes = head.length
    this.#recordBytes = 0
  }

  #head(): Uint8Array {
    const writer = new DocumentWriter(512)
    // Records that are being appended are dropped by the checkpoint, too.
    const documents = new Map(this.#documents)
    for (const change of this.#appending) apply(documents, change)
    for (const [name, document] of documents) writer.document(name, document)
    return writer.finish()
  }

  get keepsImages(): boolean {
    return this.#disk.keepsImages === true
  }

  read(): DiskContents {
    const { checkpoint, records } = this.#disk.read()
    this.#headBytes = checkpoint === null ? 0 : readUint32(checkpoint, 0)
    this.#recordBytes = 0
    if (checkpoint !== null) this.#take(checkpoint.subarray(0, this.#headBytes))
    return { checkpoint: checkpoint?.subarray(this.#headBytes) ?? null, records: this.#logRecords(records) }
  }

  /** As {@link read}, for a member that does not need the log. */
  readDocuments(): void {
    for (const record of this.read().records) void record
  }

  *#logRecords(records: Iterable<Uint8Array>): Generator<Uint8Array, void, void> {
    for (const record of records)
      if (readUint32(record, 0) === 0) {
        this.#recordBytes += record.length
        this.#take(record.subarray(markBytes))
      } else yield record
  }

  #take(fields: Uint8Array): void {
    const copy = new Uint8Array(fields)
    for (const [name, value] of fieldsOf(copy))
      if (value.type === BsonType.null) this.#documents.delete(name)
      else this.#documents.set(name, value.slice())
  }

  /** Without the documents, which no checkpoint of the log makes smaller. */
  usage(): DiskUsage {
    const { logBytes, checkpointBytes, limitBytes } = this.#disk.usage()
    return {
      logBytes: Math.max(0, logBytes - this.#recordBytes),
      checkpointBytes: Math.max(0, checkpointBytes - this.#headBytes),
      limitBytes,
    }
  }

  hasRoom(recordBytes: number): boolean {
    return this.#disk.hasRoom(recordBytes)
  }
}

function* withHead(head: Uint8Array, pieces: Iterable<Uint8Array>): Generator<Uint8Array, void, void> {
  yield head
  yield* pieces
}

function apply(documents: Map<string, Uint8Array>, [name, document]: Change): void {
  if (document === null) documents.delete(name)
  else documents.set(name, document)
}
