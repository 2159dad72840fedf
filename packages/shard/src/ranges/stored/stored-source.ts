/**
 * What a donor hands to a recipient: the documents of a range as they were at the start, then whatever has changed since, and which retryable
 * writes were executed. Server: migration_chunk_cloner_source.cpp, session_catalog_migration_source.cpp.
 */
import { CommandError, findField } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import { formatDocument } from '@shardlab/query'
import type { Collection } from '@shardlab/storage'
import { DocumentFeed, type CloneBatch, type ModsBatch } from '../../cloning/document-feed.js'
import { watchCollection } from '../../cloning/watch-collection.js'
import { keyOf as preparedKeyOf } from '../../document-moves/prepared-inserts.js'
import { checkChunkSize } from '../chunk-sizes.js'
import type { ClonedRange, RangeSource } from '../collection-ranges.js'
import { membershipOf } from '../key-range.js'
import { countRange, RangeCursor, rangeIndex } from './range-cursor.js'

export class StoredSource implements RangeSource {
  readonly #snapshot: Collection
  readonly #feed: DocumentFeed
  readonly #stopObserving: () => void

  /**
   * From now on changes are followed.
   * @throws CommandError 27 IndexNotFound; 153 ChunkTooBig unless `maxChunkSizeBytes` is null
   */
  constructor(node: NodeHost, collection: Collection, cloned: ClonedRange, maxChunkSizeBytes: number | null) {
    const { ns, uuid, shardKey, range, hidden } = cloned
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
      checkChunkSize(cloned, totals, countRange(index, range), maxChunkSizeBytes)
    }
    const cursor = new RangeCursor(index, range)
    const isHidden = (document: Uint8Array) => hidden()?.has(preparedKeyOf(findField(document, '_id')!)) === true
    this.#snapshot = snapshot
    this.#feed = new DocumentFeed(node, {
      ns,
      contains: (document) => isInRange(document) && !isHidden(document),
      next: () => {
        const recordId = cursor.next()
        if (recordId < 0) return null
        const { document } = snapshot.get(recordId)!
        return isHidden(document) ? undefined : document
      },
    })
    this.#stopObserving = watchCollection(node, uuid, {
      changed: (id, before, after) => {
        if ((before !== null && isInRange(before)) || (after !== null && isInRange(after))) this.#feed.note(id)
      },
      decided: (id) => this.#feed.note(id),
      executed: (session) => this.#feed.noteSession(session),
      redefined: () =>
        this.#feed.break(new CommandError('Interrupted', `The migration was interrupted by a change of ${ns}`)),
    })
  }

  /** What the recipient needs to know of the collection. */
  get collection(): Collection {
    return this.#snapshot
  }

  /** Why the migration cannot go on. @throws CommandError 146 ExceededMemoryLimit; 11601 Interrupted when the collection was changed */
  check(): void {
    this.#feed.check()
  }

  /** The migration is decided: what changes from now on is none of the recipient's business. */
  close(): void {
    this.#feed.close()
    this.#stopObserving()
  }

  /** Documents that have changed and that the recipient does not have yet. */
  get waitingChanges(): number {
    return this.#feed.waitingChanges
  }

  /** @param documentsMax 0: any number. @throws CommandError 96 OperationFailed for a batch out of turn */
  clone(batch: number, documentsMax: number): CloneBatch {
    return this.#feed.clone(batch, documentsMax)
  }

  /** @throws CommandError as {@link clone} */
  mods(batch: number): ModsBatch {
    return this.#feed.mods(batch)
  }
}
