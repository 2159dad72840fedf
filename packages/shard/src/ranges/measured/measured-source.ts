/** Sends the range's size at the start, then its changes. */
import { packRanges, type SizedRange } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import type { Collection } from '@shardlab/storage'
import type { CloneBatch, ModsBatch } from '../../cloning/document-feed.js'
import { watchDefinition } from '../../cloning/watch-collection.js'
import { checkChunkSize } from '../chunk-sizes.js'
import type { ClonedRange, RangeSource } from '../collection-ranges.js'
import { intervalOf } from './interval.js'
import type { MeasuredCollection } from './measured-collection.js'
import type { Interval } from './position.js'
import { RangeSizes } from './range-sizes.js'
import { negative, sizeOf } from './sized-range.js'

type Sized<Batch> = Batch & { readonly sizes: Uint8Array }

export class MeasuredSource implements RangeSource {
  readonly collection: Collection
  readonly #cloned: Uint8Array
  readonly #interval: Interval
  readonly #stops: readonly (() => void)[]
  /** Since the last batch; null: none. */
  #grown: RangeSizes | null = null
  #deleted: RangeSizes | null = null
  #lastMods: { readonly batch: number; readonly reply: Sized<ModsBatch> } | null = null
  #broken: CommandError | null = null
  #closed = false

  constructor(
    node: NodeHost,
    collection: Collection,
    measured: MeasuredCollection,
    cloned: ClonedRange,
    maxChunkSizeBytes: number | null,
  ) {
    const { uuid, range } = cloned
    const { sizes } = measured
    this.collection = collection
    this.#interval = intervalOf(range)
    const ranges = sizes.within(this.#interval)
    if (maxChunkSizeBytes !== null)
      checkChunkSize(node.behaviours, cloned, sizes, sizeOf(ranges).documents, maxChunkSizeBytes)
    this.#cloned = packRanges(ranges)
    this.#stops = [
      measured.onChange((changed) => this.#note(changed)),
      watchDefinition(node, uuid, () => {
        this.#broken ??= new CommandError('Interrupted', 'operation was interrupted')
      }),
    ]
  }

  get waitingChanges(): number {
    const inside = (sizes: RangeSizes | null): number => sizes?.sizeOf(this.#interval).documents ?? 0
    return inside(this.#grown) + inside(this.#deleted)
  }

  check(): void {
    if (this.#broken !== null) throw this.#broken
  }

  close(): void {
    this.#closed = true
    for (const stop of this.#stops) stop()
  }

  clone(): Sized<CloneBatch> {
    return { documents: [], sizes: this.#cloned, last: true }
  }

  mods(batch: number): Sized<ModsBatch> {
    if (this.#lastMods?.batch === batch) return this.#lastMods.reply
    const grown = this.#closed ? [] : (this.#grown?.take(this.#interval) ?? [])
    const deleted = this.#closed ? [] : (this.#deleted?.take(this.#interval) ?? [])
    this.#grown = this.#deleted = null
    const sizes = [...grown, ...deleted.map(negative)]
    const reply = { deleted: [], reloaded: [], sessions: null, sizes: packRanges(sizes) }
    this.#lastMods = { batch, reply }
    return reply
  }

  #note(changed: SizedRange): void {
    if (changed.documents > 0) (this.#grown ??= new RangeSizes()).grow(changed)
    else (this.#deleted ??= new RangeSizes()).grow(negative(changed))
  }
}
