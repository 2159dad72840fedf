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

  #append(fields: Uint8Array): Promise<void> {
    const record = new Uint8Array(markBytes + fields.length)
    record.set(fields, markBytes)
    return this.#disk.append(record)
  }

  append(record: Uint8Array): Promise<void> {
    return this.#disk.append(record)
  }

  appendNow(record: Uint8Array): boolean {
    return this.#disk.appendNow?.(record) === true
  }

  writeCheckpoint(checkpoint: Uint8Array | DiskImage): Promise<void> {
    const image = checkpoint instanceof Uint8Array ? imageOfBytes(checkpoint) : checkpoint
    const head = this.#head()
    return this.#disk.writeCheckpoint({
      length: head.length + image.length,
      copyTo(target) {
        target.set(head)
        image.copyTo(target.subarray(head.length))
      },
    })
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
    const headBytes = checkpoint === null ? 0 : readUint32(checkpoint, 0)
    if (checkpoint !== null) this.#take(checkpoint.subarray(0, headBytes))
    return { checkpoint: checkpoint?.subarray(headBytes) ?? null, records: this.#logRecords(records) }
  }

  *#logRecords(records: Iterable<Uint8Array>): Generator<Uint8Array, void, void> {
    for (const record of records)
      if (readUint32(record, 0) === 0) this.#take(record.subarray(markBytes))
      else yield record
  }

  #take(fields: Uint8Array): void {
    const copy = new Uint8Array(fields)
    for (const [name, value] of fieldsOf(copy))
      if (value.type === BsonType.null) this.#documents.delete(name)
      else this.#documents.set(name, value.slice())
  }

  usage(): DiskUsage {
    return this.#disk.usage()
  }

  hasRoom(recordBytes: number): boolean {
    return this.#disk.hasRoom(recordBytes)
  }
}
