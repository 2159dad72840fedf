/** There may be a million chunks. */
import { PackedChunkCursor, type PackedChunks } from '@shardlab/actor'
import { findField, writeInt32 } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import { chunkDocument, type NewCollection } from '../store/catalog-documents.js'

interface Template {
  readonly document: Uint8Array
  readonly shard: string
  readonly idAt: number
  readonly minAt: number
  readonly minLength: number
  readonly maxAt: number
  readonly maxLength: number
  readonly versionAt: number
}

/**
 * In key order, with versions from 1|0. Each document is valid only until the next call, which
 * overwrites it if only a few bytes differ.
 */
export function* newChunkDocuments(
  behaviours: Behaviours,
  newObjectId: () => Uint8Array,
  collection: NewCollection,
  chunks: PackedChunks,
): Generator<Uint8Array, void, void> {
  const cursor = new PackedChunkCursor(chunks)
  let template: Template | null = null
  let minor = 0
  do {
    const id = newObjectId()
    // Ids built from the range vary in length.
    if (template === null || behaviours.chunkIdsContainRange || !isAlike(template, cursor)) {
      template = templateOf(
        chunkDocument(behaviours, id, collection, cursor.chunk, minor, collection.timestamp),
        cursor,
      )
    } else {
      const { document, idAt, minAt, minLength, maxAt, maxLength, versionAt } = template
      copy(id, 0, document, idAt, id.length)
      copy(cursor.bytes, cursor.minStart, document, minAt, minLength)
      copy(cursor.bytes, cursor.maxStart, document, maxAt, maxLength)
      writeInt32(document, versionAt, minor)
    }
    minor++
    yield template.document
  } while (cursor.next())
}

function templateOf(document: Uint8Array, { shard }: PackedChunkCursor): Template {
  const [id, min, max] = [findField(document, '_id')!, findField(document, 'min')!, findField(document, 'max')!]
  return {
    document,
    shard,
    idAt: id.start,
    minAt: min.start,
    minLength: min.end - min.start,
    maxAt: max.start,
    maxLength: max.end - max.start,
    versionAt: findField(document, 'lastmod')!.start,
  }
}

function isAlike(template: Template, { minStart, maxStart, maxEnd, shard }: PackedChunkCursor): boolean {
  return (
    template.minLength === maxStart - minStart && template.maxLength === maxEnd - maxStart && template.shard === shard
  )
}

/** A loop is faster than a call into the runtime for so few bytes. */
function copy(from: Uint8Array, start: number, to: Uint8Array, at: number, length: number): void {
  for (let i = 0; i < length; i++) to[at + i] = from[start + i]!
}
