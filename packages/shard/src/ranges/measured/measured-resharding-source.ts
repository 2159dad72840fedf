/** Sends the sizes of all documents under the new key, then changes. */
import { packRanges, type SizedRange } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import type { Collection } from '@shardlab/storage'
import type { CloneBatch, ModsBatch } from '../../cloning/document-feed.js'
import { watchDefinition } from '../../cloning/watch-collection.js'
import type { ReshardedCollection, ReshardingSource, Size } from '../collection-ranges.js'
import { notRecipient } from '../stored/resharded-source.js'
import type { MeasuredCollection } from './measured-collection.js'
import type { MeasuredOptions } from './measured-options.js'
import { RangeSizes } from './range-sizes.js'
import { ownedRanges, rangesByOwner, rekeyOf } from './rekeyed-ranges.js'
import { negative } from './sized-range.js'

type Sized<Batch> = Batch & { readonly sizes: Uint8Array }

interface Feed {
  readonly cloned: Uint8Array
  isCloned: boolean
  waiting: SizedRange[]
  lastMods: { readonly batch: number; readonly reply: Sized<ModsBatch> } | null
}

export class MeasuredReshardingSource implements ReshardingSource {
  readonly collection: Collection
  readonly size: Size
  readonly #resharded: ReshardedCollection
  readonly #options: MeasuredOptions
  readonly #feeds: ReadonlyMap<string, Feed>
  readonly #stops: readonly (() => void)[]
  /** Since the last batch for any recipient, under the old key. */
  #grown = new RangeSizes()
  #deleted = new RangeSizes()
  #broken: CommandError | null = null
  #closed = false

  constructor(
    node: NodeHost,
    collection: Collection,
    measured: MeasuredCollection,
    resharded: ReshardedCollection,
    options: MeasuredOptions,
  ) {
    this.collection = collection.snapshot()
    this.#resharded = resharded
    this.#options = options
    const owned = ownedRanges(measured.sizes, resharded.source, node.context.address)
    const { documents, bytes } = measured.sizes
    this.size = { documents, bytes }
    const parts = this.#byRecipient(owned, false)
    this.#feeds = new Map(
      resharded.recipients.map((recipient): [string, Feed] => [
        recipient,
        { cloned: packRanges(parts.get(recipient) ?? []), isCloned: false, waiting: [], lastMods: null },
      ]),
    )
    this.#stops = [
      measured.onChange((changed) => {
        if (changed.documents > 0) this.#grown.grow(changed)
        else this.#deleted.grow(negative(changed))
      }),
      watchDefinition(node, collection.uuid, () => {
        this.#broken ??= new CommandError('Interrupted', 'operation was interrupted')
      }),
    ]
  }

  get isDrained(): boolean {
    for (const { isCloned } of this.#feeds.values()) if (!isCloned) return false
    return true
  }

  check(): void {
    if (this.#broken !== null) throw this.#broken
  }

  close(): void {
    this.#closed = true
    for (const stop of this.#stops) stop()
  }

  clone(recipient: string): Sized<CloneBatch> {
    const feed = this.#feed(recipient)
    feed.isCloned = true
    return { documents: [], sizes: feed.cloned, last: true }
  }

  mods(recipient: string, batch: number): Sized<ModsBatch> {
    const feed = this.#feed(recipient)
    if (feed.lastMods?.batch === batch) return feed.lastMods.reply
    this.#distribute()
    const sizes = packRanges(this.#closed ? [] : feed.waiting)
    feed.waiting = []
    feed.lastMods = { batch, reply: { deleted: [], reloaded: [], sessions: null, sizes } }
    return feed.lastMods.reply
  }

  #distribute(): void {
    const [grown, deleted] = [this.#grown, this.#deleted]
    if (grown.documents + deleted.documents === 0) return
    this.#grown = new RangeSizes()
    this.#deleted = new RangeSizes()
    for (const [recipient, ranges] of this.#byRecipient([...grown.ranges()], true))
      this.#feeds.get(recipient)?.waiting.push(...ranges)
    for (const [recipient, ranges] of this.#byRecipient([...deleted.ranges()], false))
      this.#feeds.get(recipient)?.waiting.push(...ranges.map(negative))
  }

  #byRecipient(ranges: readonly SizedRange[], isGrowth: boolean): Map<string, SizedRange[]> {
    if (ranges.length === 0) return new Map()
    const { ns, source, target } = this.#resharded
    const request = { ns, from: source.shardKey, to: target.shardKey, ranges, isGrowth }
    return rangesByOwner(rekeyOf(this.#options)(request), target)
  }

  #feed(recipient: string): Feed {
    const feed = this.#feeds.get(recipient)
    if (feed === undefined) throw notRecipient(recipient)
    this.check()
    return feed
  }
}
