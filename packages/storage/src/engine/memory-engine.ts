import { CommandError } from '@shardlab/bson'
import { imageOf, readCheckpoint } from './checkpoint.js'
import { applyCommand, namesChangedBy } from './apply-command.js'
import { undoChanges } from '../history/undo-changes.js'
import type { UndoLog } from '../history/undo-log.js'
import type { InsertedDocuments } from '../records/inserted-documents.js'
import type { LogEntry } from '../log/log-entry.js'
import { MemoryCollection } from './memory-collection.js'
import { preImagesNs, recordPreImage, removePreImages } from './pre-images.js'
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
  /**
   * Whether some collections are still snapshots of another engine. A collection is copied when it
   * is used first.
   */
  #isLazy: boolean
  droppedBytes = 0
  undoLog: UndoLog | null = null
  keepsPreImages = true

  constructor(collections: Map<string, MemoryCollection>, isLazy = false) {
    this.#collections = collections
    this.#isLazy = isLazy
  }

  #find(ns: string): MemoryCollection | undefined {
    const found = this.#collections.get(ns)
    return this.#isLazy && found?.isFrozen === true ? this.#thaw(found) : found
  }

  #thaw(snapshot: MemoryCollection): MemoryCollection {
    const collection = snapshot.clone()
    this.#collections.set(collection.ns, collection)
    return collection
  }

  /** All collections, none of which is a snapshot any more. */
  #all(): Map<string, MemoryCollection> {
    if (this.#isLazy) {
      this.#isLazy = false
      for (const each of this.#collections.values()) if (each.isFrozen) this.#thaw(each)
    }
    return this.#collections
  }

  apply(entry: LogEntry): Uint8Array | null {
    switch (entry.op) {
      case 'i':
        this.#mustFind(entry).insert(entry.object)
        this.recordInserts(entry.ns, entry.ts, 1)
        return null
      case 'u':
        return this.#update(entry)
      case 'd':
        return this.#delete(entry)
      case 'c':
        if (this.undoLog === null) this.droppedBytes += applyCommand(this.#all(), entry)
        else this.#applyCommand(entry, this.undoLog)
        return null
      case 'n':
        return null
    }
  }

  #update(entry: LogEntry): Uint8Array {
    const collection = this.#mustFind(entry)
    const { moves } = collection
    const before = collection.update(idOf(entry), entry.object)
    this.undoLog?.updated(entry.ns, entry.ts, before)
    if (collection.rules.recordsPreImages) this.#recordPreImage(entry, collection, before)
    if (collection.moves !== moves) this.#documentsMoved()
    return before
  }

  #delete(entry: LogEntry): Uint8Array {
    const collection = this.#mustFind(entry)
    const { moves } = collection
    const before = collection.delete(idOf(entry))
    this.undoLog?.deleted(entry.ns, entry.ts, collection.lastRecordId, before)
    if (collection.rules.recordsPreImages) this.#recordPreImage(entry, collection, before)
    if (collection.moves !== moves) this.#documentsMoved()
    return before
  }

  /** The documents before earlier changes would keep all the old slabs alive. */
  #documentsMoved(): void {
    this.undoLog?.clear()
  }

  #applyCommand(entry: LogEntry, undoLog: UndoLog): void {
    const collections = this.#all()
    const before = new Map<string, MemoryCollection | null>()
    for (const ns of namesChangedBy(collections, entry)) before.set(ns, collections.get(ns)?.clone(false, true) ?? null)
    const droppedBytes = applyCommand(collections, entry)
    this.droppedBytes += droppedBytes
    undoLog.catalogChanged(entry.ts, before, droppedBytes)
  }

  recordInserts(ns: string, ts: LogEntry['ts'], count: number): void {
    this.undoLog?.inserted(ns, ts, this.#mustFind({ ns }).nextRecordId - count, count)
  }

  undoTo(log: UndoLog, from: LogEntry['ts'], time: LogEntry['ts']): void {
    undoChanges(this.#all(), log, from, time)
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
    return this.#find(ns)
  }

  collections(db?: string): Collection[] {
    const found = [...this.#all().values()]
    const chosen = db === undefined ? found : found.filter(({ ns }) => ns.startsWith(`${db}.`))
    return chosen.sort((a, b) => (a.ns < b.ns ? -1 : 1))
  }

  databases(): string[] {
    const names = new Set<string>()
    for (const ns of this.#collections.keys()) names.add(ns.slice(0, ns.indexOf('.')))
    return [...names].sort()
  }

  checkpoint(): CheckpointImage {
    return imageOf([...this.#all().values()])
  }

  restore(checkpoint: Uint8Array): void {
    const restored = readCheckpoint(checkpoint)
    this.#isLazy = false
    this.#collections.clear()
    for (const collection of restored) this.#collections.set(collection.ns, collection)
  }

  clone(): StorageEngine {
    const snapshots = new Map<string, MemoryCollection>()
    for (const [ns, collection] of this.#collections) snapshots.set(ns, collection.snapshot())
    return new MemoryEngine(snapshots, true)
  }

  adopt(other: StorageEngine): void {
    const collections = (other.collections() as MemoryCollection[]).map((collection) => collection.clone(true))
    this.#isLazy = false
    this.#collections.clear()
    for (const collection of collections) this.#collections.set(collection.ns, collection)
  }

  #recordPreImage(entry: LogEntry, { uuid }: MemoryCollection, before: Uint8Array): void {
    if (this.keepsPreImages && entry.fromMigrate !== true) recordPreImage(this.#all(), entry, uuid, before)
  }

  removePreImages(isExpired: (image: Uint8Array) => boolean): void {
    removePreImages(this.#find(preImagesNs), isExpired)
  }

  #mustFind({ ns }: Pick<LogEntry, 'ns'>): MemoryCollection {
    const collection = this.#find(ns)
    if (collection === undefined)
      throw new CommandError('NamespaceNotFound', `a log entry writes to ${ns}, which does not exist`)
    return collection
  }
}

function idOf(entry: LogEntry): NonNullable<LogEntry['id']> {
  if (entry.id === null) throw new Error(`a log entry of kind ${entry.op} for ${entry.ns} has no _id`)
  return entry.id
}
