/**
 * A disk that also keeps documents of the member itself, which are not replicated: its
 * configuration, its last vote, and files of rollbacks. They are neither in the log nor in the
 * data, so neither a rollback nor an initial sync affects them. Server: `local.system.replset`,
 * `local.replset.election`, `<dbPath>/rollback`.
 */
import { imageOfBytes, type Disk, type DiskContents, type DiskImage, type DiskUsage } from '@shardlab/actor'
import { BsonType, DocumentWriter, fieldsOf, readUint32 } from '@shardlab/bson'

/** Records of the log begin with the length of their first entry, which is never 0. */
const markBytes = 4

export class DiskWithDocuments implements Disk {
  readonly #disk: Disk
  readonly #documents = new Map<string, Uint8Array>()
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

  /** @throws DiskFullError as a rejection; nothing has changed then */
  async storeDocument(name: string, document: Uint8Array): Promise<void> {
    await this.#append(new DocumentWriter(document.length + 64).document(name, document).finish())
    this.#documents.set(name, document)
  }

  /** @throws DiskFullError as a rejection; nothing has changed then */
  async removeDocument(name: string): Promise<void> {
    await this.#append(new DocumentWriter(64).null(name).finish())
    this.#documents.delete(name)
  }

  async #append(fields: Uint8Array): Promise<void> {
    const record = new Uint8Array(markBytes + fields.length)
    record.set(fields, markBytes)
    await this.#disk.append(record)
    this.#recordBytes += record.length
  }

  /** In a copy, which does not {@link read} its disk. */
  adoptDocument(name: string, document: Uint8Array): void {
    this.#documents.set(name, document)
  }

  append(record: Uint8Array): Promise<void> {
    return this.#disk.append(record)
  }

  appendNow(record: Uint8Array): boolean {
    return this.#disk.appendNow?.(record) === true
  }

  async writeCheckpoint(checkpoint: Uint8Array | DiskImage): Promise<void> {
    const image = checkpoint instanceof Uint8Array ? imageOfBytes(checkpoint) : checkpoint
    const head = this.#head()
    await this.#disk.writeCheckpoint({
      length: head.length + image.length,
      copyTo(target) {
        target.set(head)
        image.copyTo(target.subarray(head.length))
      },
    })
    this.#headBytes = head.length
    this.#recordBytes = 0
  }

  #head(): Uint8Array {
    const writer = new DocumentWriter(512)
    for (const [name, document] of this.#documents) writer.document(name, document)
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
