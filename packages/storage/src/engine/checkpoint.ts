/**
 * An engine as bytes: a BSON header (collections, options, indexes), then for each collection its
 * records, each a record id in six bytes and the document.
 */
import { asBuffer, DocumentWriter, documentAt, documentsOf, elementsOf, findField, readInt32 } from '@shardlab/bson'
import type { MultikeyPaths } from '../indexes/index-keys.js'
import { MemoryCollection } from './memory-collection.js'
import type { RestoredIndex } from '../indexes/index-parts.js'
import type { RecordTable, StoredRecord } from '../records/record-table.js'
import type { CheckpointImage } from './types.js'

const formatVersion = 2
const recordIdBytes = 6

/** Later changes do not affect the image. It shares the records and is cheap until it is copied. */
export function imageOf(collections: readonly MemoryCollection[]): CheckpointImage {
  const header = headerOf(collections)
  let length = header.length
  for (const { dataSizeBytes, count } of collections) length += dataSizeBytes + count * recordIdBytes
  const tables = collections.map((collection) => collection.records())
  return {
    length,
    copyTo(target) {
      const bytes = Buffer.from(target.buffer, target.byteOffset, target.length)
      bytes.set(header)
      let at = header.length
      for (const table of tables) {
        const scan = table.scan()
        while (scan.step()) {
          bytes.writeUIntLE(scan.recordId, at, recordIdBytes)
          at += recordIdBytes
          at += asBuffer(scan.bytes).copy(bytes, at, scan.start, scan.start + readInt32(scan.bytes, scan.start))
        }
      }
      if (at !== length) throw new Error(`the checkpoint has ${at} bytes instead of ${length}`)
    },
    *pieces() {
      yield header
      for (const table of tables) yield* piecesOf(table)
    },
  }
}

const pieceBytes = 256 * 1024

function* piecesOf(table: RecordTable): Generator<Uint8Array, void, void> {
  const scan = table.scan()
  let piece = Buffer.allocUnsafeSlow(pieceBytes)
  let at = 0
  while (scan.step()) {
    const length = readInt32(scan.bytes, scan.start)
    if (at + recordIdBytes + length > piece.length) {
      if (at > 0) yield piece.subarray(0, at)
      piece = Buffer.allocUnsafeSlow(Math.max(pieceBytes, recordIdBytes + length))
      at = 0
    }
    piece.writeUIntLE(scan.recordId, at, recordIdBytes)
    asBuffer(scan.bytes).copy(piece, at + recordIdBytes, scan.start, scan.start + length)
    at += recordIdBytes + length
  }
  if (at > 0) yield piece.subarray(0, at)
}

/** @throws Error if the bytes are not a checkpoint of this version */
export function readCheckpoint(checkpoint: Uint8Array): MemoryCollection[] {
  const bytes = Buffer.from(checkpoint.buffer, checkpoint.byteOffset, checkpoint.length)
  const header = documentAt(bytes, 0)
  const version = findField(header, 'version')?.asNumber()
  if (version !== formatVersion)
    throw new Error(`cannot read a checkpoint of version ${version}, only of version ${formatVersion}`)
  let at = header.length
  return documentsOf(findField(header, 'collections')!).map((description) => {
    const uuid = findField(description, 'uuid')!
    const count = findField(description, 'count')!.asNumber()
    const collection = MemoryCollection.create(
      findField(description, 'ns')!.asString(),
      uuid.asBinary(),
      findField(description, 'options')!.slice(),
    )
    const records = recordsAt(bytes, at, count)
    collection.restore(
      findField(description, 'nextRecordId')!.asNumber(),
      records,
      documentsOf(findField(description, 'indexes')!).map(readIndex),
    )
    at += collection.dataSizeBytes + count * recordIdBytes
    return collection
  })
}

function headerOf(collections: readonly MemoryCollection[]): Uint8Array {
  const writer = new DocumentWriter(4096).int32('version', formatVersion).startArray('collections')
  collections.forEach((collection, i) => {
    writer
      .startDocument(String(i))
      .string('ns', collection.ns)
      .uuid('uuid', collection.uuid)
      .document('options', collection.options)
    writer.int64('nextRecordId', collection.nextRecordId).int64('count', collection.count).startArray('indexes')
    collection.indexes().forEach((index, j) => {
      writer.startDocument(String(j)).document('spec', index.spec).startArray('multikeyPaths')
      index.multikeyPaths.forEach((components, k) => {
        writer.startArray(String(k))
        ;[...components].forEach((component, l) => writer.int32(String(l), component))
        writer.end()
      })
      writer.end().startArray('arrayPaths')
      ;[...index.arrayPaths].forEach((path, k) => writer.string(String(k), path))
      writer.end().end()
    })
    writer.end().end()
  })
  return writer.end().finish()
}

function readIndex(description: Uint8Array): RestoredIndex {
  const paths: MultikeyPaths = elementsOf(findField(description, 'multikeyPaths')!).map(
    (components) => new Set(elementsOf(components).map((value) => value.asNumber())),
  )
  return {
    // A view would keep the whole checkpoint alive.
    spec: new Uint8Array(findField(description, 'spec')!.slice()),
    multikeyPaths: paths,
    arrayPaths: elementsOf(findField(description, 'arrayPaths')!).map((path) => path.asString()),
  }
}

function* recordsAt(bytes: Buffer, start: number, count: number): Generator<StoredRecord, void, void> {
  let at = start
  for (let i = 0; i < count; i++) {
    const recordId = bytes.readUIntLE(at, recordIdBytes)
    at += recordIdBytes
    const document = bytes.subarray(at, at + readInt32(bytes, at))
    yield { recordId, document }
    at += document.length
  }
}
