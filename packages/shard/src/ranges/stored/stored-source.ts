/** Server: migration_chunk_cloner_source.cpp, session_catalog_migration_source.cpp. */
import { CommandError } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import { formatDocument } from '@shardlab/query'
import type { Collection } from '@shardlab/storage'
import { DocumentFeed, type CloneBatch, type ModsBatch } from '../../cloning/document-feed.js'
import { watchCollection } from '../../cloning/watch-collection.js'
import { checkChunkSize } from '../chunk-sizes.js'
import type { ClonedRange, RangeSource } from '../collection-ranges.js'
import { membershipOf } from '../key-range.js'
import { countRange, RangeCursor, rangeIndex } from './range-cursor.js'

export class StoredSource implements RangeSource {
  readonly #snapshot: Collection
  readonly #feed: DocumentFeed
  readonly #stopObserving: () => void

  constructor(node: NodeHost, collection: Collection, cloned: ClonedRange, maxChunkSizeBytes: number | null) {
    const { ns, uuid, shardKey, range } = cloned
    const isInRange = membershipOf(range, shardKey)
    const snapshot = collection.snapshot()
    const index = rangeIndex(snapshot, shardKey)
    if (index === undefined) {
      throw new CommandError(
        'IndexNotFound',
        `can't find index with prefix ${formatDocument(shardKey.document)} in storeCurrentRecordId for ${ns}`,
      )
    }
    if (maxChunkSizeBytes !== null) {
      const totals = { documents: snapshot.count, bytes: snapshot.dataSizeBytes }
      checkChunkSize(node.behaviours, cloned, totals, countRange(index, range), maxChunkSizeBytes)
    }
    const cursor = new RangeCursor(index, range)
    this.#snapshot = snapshot
    this.#feed = new DocumentFeed(node, {
      ns,
      contains: isInRange,
      next: () => {
        const recordId = cursor.next()
        return recordId < 0 ? null : snapshot.get(recordId)!.document
      },
    })
    this.#stopObserving = watchCollection(node, uuid, {
      changed: (id, before, after) => {
        if ((before !== null && isInRange(before)) || (after !== null && isInRange(after))) this.#feed.note(id)
      },
      executed: (session) => this.#feed.noteSession(session),
      redefined: () => this.#feed.break(new CommandError('Interrupted', 'operation was interrupted')),
    })
  }

  get collection(): Collection {
    return this.#snapshot
  }

  check(): void {
    this.#feed.check()
  }

  close(): void {
    this.#feed.close()
    this.#stopObserving()
  }

  get waitingChanges(): number {
    return this.#feed.waitingChanges
  }

  clone(batch: number, documentsMax: number): CloneBatch {
    return this.#feed.clone(batch, documentsMax)
  }

  mods(batch: number): ModsBatch {
    return this.#feed.mods(batch)
  }
}
