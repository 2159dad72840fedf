/**
 * Keeps a feed for each recipient, of the documents that it gets under the new key.
 * Server: resharding_donor_service.cpp.
 */
import { CommandError, findField, sameBytes } from '@shardlab/bson'
import { OwnershipFilter, type CollectionPlacement } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import { DocumentFeed } from '../../cloning/document-feed.js'
import { watchCollection } from '../../cloning/watch-collection.js'
import { keyOf } from '../../document-moves/prepared-inserts.js'
import type { ReshardingFacts } from '../records.js'
import type { ReshardingHost } from '../resharding-host.js'

export class ReshardingDonor {
  readonly recipients: readonly string[]
  readonly snapshot: Collection
  readonly startedAtMs: number
  readonly #host: Pick<ReshardingHost, 'node' | 'preparedInserts'>
  readonly #source: OwnershipFilter
  readonly #target: CollectionPlacement
  readonly #feeds = new Map<string, DocumentFeed>()
  readonly #stopWatching: () => void
  #documents = 0
  #bytes = 0

  /**
   * Follows changes from now on.
   * @param placements `source`: the current one; `target`: under the new key
   * @throws CommandError 26 NamespaceNotFound
   */
  constructor(
    host: Pick<ReshardingHost, 'node' | 'preparedInserts'>,
    facts: ReshardingFacts,
    placements: { source: CollectionPlacement; target: CollectionPlacement },
    recipients: readonly string[],
  ) {
    const { node } = host
    this.#host = host
    this.#source = new OwnershipFilter(placements.source, node.context.address)
    this.#target = placements.target
    this.recipients = recipients
    this.startedAtMs = node.context.now()
    const live = node.collection(facts.ns)
    if (live === undefined || !sameBytes(live.uuid, facts.sourceUuid))
      throw new CommandError(
        'NamespaceNotFound',
        'The collection was not found locally even though it is marked as sharded.',
      )
    this.snapshot = live.snapshot()
    this.#count()
    for (const recipient of recipients) this.#feeds.set(recipient, this.#feedFor(recipient, facts.ns))
    this.#stopWatching = watchCollection(node, facts.sourceUuid, {
      changed: (id, before, after) => {
        const to = new Set([
          before === null ? null : this.#recipientOf(before),
          after === null ? null : this.#recipientOf(after),
        ])
        for (const recipient of to) if (recipient !== null) this.#feeds.get(recipient)?.note(id)
      },
      // The document's earlier recipient is unknown here.
      decided: (id) => this.#each((feed) => feed.note(id)),
      executed: (session) => this.#each((feed) => feed.noteSession(session)),
      redefined: () => this.#break(new CommandError('Interrupted', 'operation was interrupted')),
    })
  }

  /** Of the documents that this shard owned at the start. */
  get size(): { readonly documents: number; readonly bytes: number } {
    return { documents: this.#documents, bytes: this.#bytes }
  }

  get isDrained(): boolean {
    for (const feed of this.#feeds.values()) if (!feed.isDrained) return false
    return true
  }

  /** @throws CommandError 94 NotYetInitialized: not a recipient; errors of the donor */
  feed(recipient: string): DocumentFeed {
    const feed = this.#feeds.get(recipient)
    if (feed === undefined) throw new CommandError('NotYetInitialized', `${recipient} receives nothing from this shard`)
    feed.check()
    return feed
  }

  check(): void {
    this.#each((feed) => feed.check())
  }

  close(): void {
    this.#stopWatching()
    this.#each((feed) => feed.close())
  }

  #feedFor(recipient: string, ns: string): DocumentFeed {
    const scan = this.snapshot.scan()
    const belongs = (document: Uint8Array) => !this.#isHidden(document) && this.#recipientOf(document) === recipient
    return new DocumentFeed(this.#host.node, {
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

  /** The document is moving here and its move is undecided. */
  #isHidden(document: Uint8Array): boolean {
    const hidden = this.#host.preparedInserts.hiddenIn(this.snapshot.uuid)
    return hidden !== undefined && hidden.has(keyOf(findField(document, '_id')!))
  }

  #count(): void {
    const scan = this.snapshot.scan()
    for (let record = scan.next(); record !== null; record = scan.next()) {
      if (!this.#source.owns(record.document)) continue
      this.#documents++
      this.#bytes += record.document.length
    }
  }

  #each(work: (feed: DocumentFeed) => void): void {
    for (const feed of this.#feeds.values()) work(feed)
  }

  #break(reason: CommandError): void {
    this.#each((feed) => feed.break(reason))
  }
}
