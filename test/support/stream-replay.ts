/** What the events of a change stream make out of nothing. */
import type { ChangeStreamDocument, Document } from 'mongodb'

export class StreamReplay {
  /**
   * By `_id`. A document that moves to another shard is deleted there and inserted here, in any
   * order: then there are two of them for a while, with different shard keys.
   */
  readonly #documents = new Map<unknown, Document[]>()

  /** @throws Error the event contradicts earlier ones */
  apply(event: ChangeStreamDocument): void {
    switch (event.operationType) {
      case 'insert':
        return this.#insert(event.documentKey, structuredClone(event.fullDocument))
      case 'replace':
        return this.#remove(event.documentKey, structuredClone(event.fullDocument))
      case 'delete':
        return this.#remove(event.documentKey)
      case 'update': {
        const [document] = this.#find(event.documentKey)
        const { updatedFields, removedFields, truncatedArrays } = event.updateDescription
        for (const { field, newSize } of truncatedArrays ?? []) at(document, field).splice(newSize)
        for (const [path, value] of Object.entries(updatedFields ?? {})) set(document, path, structuredClone(value))
        for (const path of removedFields ?? []) unset(document, path)
        return
      }
      default:
        throw new Error(`an event ${event.operationType}`)
    }
  }

  #insert(documentKey: Document, document: Document): void {
    const stored = this.#documents.get(documentKey['_id']) ?? []
    if (stored.some((each) => hasKey(each, documentKey)))
      throw new Error(`${JSON.stringify(documentKey)} is inserted although it exists`)
    this.#documents.set(documentKey['_id'], [...stored, document])
  }

  #remove(documentKey: Document, ...replacement: readonly Document[]): void {
    const [, stored, i] = this.#find(documentKey)
    stored.splice(i, 1, ...replacement)
  }

  #find(documentKey: Document): readonly [document: Document, among: Document[], index: number] {
    const stored = this.#documents.get(documentKey['_id']) ?? []
    const i = stored.findIndex((each) => hasKey(each, documentKey))
    if (i < 0) throw new Error(`there is no document ${JSON.stringify(documentKey)}`)
    return [stored[i]!, stored, i]
  }

  /** @throws Error a document exists twice */
  end(): Map<unknown, Document> {
    const documents = new Map<unknown, Document>()
    for (const [_id, stored] of this.#documents) {
      if (stored.length > 1) throw new Error(`there are ${stored.length} documents ${JSON.stringify(_id)}`)
      if (stored.length === 1) documents.set(_id, stored[0]!)
    }
    return documents
  }
}

const hasKey = (document: Document, documentKey: Document): boolean =>
  Object.entries(documentKey).every(([name, value]) => document[name] === value)

export function replayed(events: readonly ChangeStreamDocument[]): Map<unknown, Document> {
  const replay = new StreamReplay()
  for (const event of events) replay.apply(event)
  return replay.end()
}

const at = (document: Document, path: string): unknown[] =>
  path.split('.').reduce<Document>((value, name) => value[name] as Document, document) as unknown[]

function set(document: Document, path: string, value: unknown): void {
  const names = path.split('.')
  const last = names.pop()!
  names.reduce<Document>((inner, name) => inner[name] as Document, document)[last] = value
}

function unset(document: Document, path: string): void {
  const names = path.split('.')
  const last = names.pop()!
  delete names.reduce<Document>((inner, name) => inner[name] as Document, document)[last]
}
