import { CommandError } from '@shardlab/bson'
import { imageOf, readCheckpoint } from './checkpoint.js'
import { applyCommand } from './apply-command.js'
import type { InsertedDocuments } from '../records/inserted-documents.js'
import type { LogEntry } from '../log/log-entry.js'
import { MemoryCollection } from './memory-collection.js'
import type { CheckpointImage, Collection, StorageEngine } from './types.js'

export function createMemoryEngine(): StorageEngine {
  return new MemoryEngine(new Map())
}

/**
 * A collection that is computed for a read and stored nowhere. It has no indexes, and its documents
 * may lack `_id`.
 */
export function listingOf(ns: string, uuid: Uint8Array, documents: Iterable<Uint8Array>): Collection {
  return MemoryCollection.ofDocuments(ns, uuid, documents)
}

class MemoryEngine implements StorageEngine {
  readonly #collections: Map<string, MemoryCollection>
  droppedBytes = 0

  constructor(collections: Map<string, MemoryCollection>) {
    this.#collections = collections
  }

  apply(entry: LogEntry): Uint8Array | null {
    switch (entry.op) {
      case 'i':
        this.#mustFind(entry).insert(entry.object)
        return null
      case 'u':
        return this.#mustFind(entry).update(idOf(entry), entry.object)
      case 'd':
        return this.#mustFind(entry).delete(idOf(entry))
      case 'c':
        this.droppedBytes += applyCommand(this.#collections, entry)
        return null
      case 'n':
        return null
    }
  }

  insertEach(ns: string, documents: readonly Uint8Array[]): number {
    const collection = this.#mustFind({ ns })
    let inserted = 0
    try {
      for (; inserted < documents.length; inserted++) collection.insert(documents[inserted]!)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
    }
    return inserted
  }

  insertAll(ns: string, documents: Iterable<Uint8Array>): InsertedDocuments {
    return this.#mustFind({ ns }).insertAll(documents)
  }

  collection(ns: string): Collection | undefined {
    return this.#collections.get(ns)
  }

  collections(db?: string): Collection[] {
    const found = [...this.#collections.values()]
    const chosen = db === undefined ? found : found.filter(({ ns }) => ns.startsWith(`${db}.`))
    return chosen.sort((a, b) => (a.ns < b.ns ? -1 : 1))
  }

  databases(): string[] {
    const names = new Set<string>()
    for (const ns of this.#collections.keys()) names.add(ns.slice(0, ns.indexOf('.')))
    return [...names].sort()
  }

  checkpoint(): CheckpointImage {
    return imageOf([...this.#collections.values()])
  }

  restore(checkpoint: Uint8Array): void {
    const restored = readCheckpoint(checkpoint)
    this.#collections.clear()
    for (const collection of restored) this.#collections.set(collection.ns, collection)
  }

  clone(): StorageEngine {
    return new MemoryEngine(new Map([...this.#collections].map(([ns, collection]) => [ns, collection.clone()])))
  }

  adopt(other: StorageEngine): void {
    const collections = (other.collections() as MemoryCollection[]).map((collection) => collection.clone(true))
    this.#collections.clear()
    for (const collection of collections) this.#collections.set(collection.ns, collection)
  }

  #mustFind({ ns }: Pick<LogEntry, 'ns'>): MemoryCollection {
    const collection = this.#collections.get(ns)
    if (collection === undefined)
      throw new CommandError('NamespaceNotFound', `a log entry writes to ${ns}, which does not exist`)
    return collection
  }
}

function idOf(entry: LogEntry): NonNullable<LogEntry['id']> {
  if (entry.id === null) throw new Error(`a log entry of kind ${entry.op} for ${entry.ns} has no _id`)
  return entry.id
}
