/**
 * Keeps a feed for each recipient, of the documents that it gets under the new key.
 * Server: resharding_donor_service.cpp.
 */
import { CommandError } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import { OwnershipFilter, type CollectionPlacement } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import { DocumentFeed, type CloneBatch, type ModsBatch } from '../../cloning/document-feed.js'
import { watchCollection } from '../../cloning/watch-collection.js'
import type { ReshardedCollection, ReshardingSource, Size } from '../collection-ranges.js'

export class ReshardedSource implements ReshardingSource {
  readonly collection: Collection
  readonly #node: NodeHost
  readonly #source: OwnershipFilter
  readonly #target: CollectionPlacement
  readonly #feeds = new Map<string, DocumentFeed>()
  readonly #stopWatching: () => void

  constructor(node: NodeHost, live: Collection, { ns, source, target, recipients }: ReshardedCollection) {
    this.#node = node
    this.#source = new OwnershipFilter(source, node.context.address)
    this.#target = target
    this.collection = live.snapshot()
    for (const recipient of recipients) this.#feeds.set(recipient, this.#feedFor(recipient, ns))
    this.#stopWatching = watchCollection(node, live.uuid, {
      changed: (id, before, after) => {
        const to = new Set([
          before === null ? null : this.#recipientOf(before),
          after === null ? null : this.#recipientOf(after),
        ])
        for (const recipient of to) if (recipient !== null) this.#feeds.get(recipient)?.note(id)
      },
      executed: (session) => this.#each((feed) => feed.noteSession(session)),
      redefined: () => this.#break(new CommandError('Interrupted', 'operation was interrupted')),
    })
  }

  get size(): Size {
    const { count, dataSizeBytes } = this.collection
    return { documents: count, bytes: dataSizeBytes }
  }

  get isDrained(): boolean {
    for (const feed of this.#feeds.values()) if (!feed.isDrained) return false
    return true
  }

  clone(recipient: string, batch: number, documentsMax: number): CloneBatch {
    return this.#feed(recipient).clone(batch, documentsMax)
  }

  mods(recipient: string, batch: number): ModsBatch {
    return this.#feed(recipient).mods(batch)
  }

  check(): void {
    this.#each((feed) => feed.check())
  }

  close(): void {
    this.#stopWatching()
    this.#each((feed) => feed.close())
  }

  #feed(recipient: string): DocumentFeed {
    const feed = this.#feeds.get(recipient)
    if (feed === undefined) throw notRecipient(recipient)
    feed.check()
    return feed
  }

  #feedFor(recipient: string, ns: string): DocumentFeed {
    const scan = this.collection.scan()
    const belongs = (document: Uint8Array) => this.#recipientOf(document) === recipient
    return new DocumentFeed(this.#node, {
      ns,
      contains: belongs,
      next: () => {
        const record = scan.next()
        return record === null ? null : belongs(record.document) ? record.document : undefined
      },
    })
  }

  /** Null: this shard does not own the document. An array in the new key ends the resharding. */
  #recipientOf(document: Uint8Array): string | null {
    if (!this.#source.owns(document)) return null
    const key = this.#target.shardKey.extract(document)
    if (typeof key !== 'string') return this.#target.table.shardOf(key.keyString)
    this.#break(new CommandError('ShardKeyNotFound', 'Shard key cannot contain array values or array descendants.'))
    return null
  }

  #each(work: (feed: DocumentFeed) => void): void {
    for (const feed of this.#feeds.values()) work(feed)
  }

  #break(reason: CommandError): void {
    this.#each((feed) => feed.break(reason))
  }
}

export function notRecipient(shard: string): CommandError {
  return new CommandError('NotYetInitialized', `${shard} receives nothing from this shard`)
}
