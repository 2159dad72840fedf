/**
 * Sizes of the shards as events report them, and their exact maxima: they do not depend on when a
 * run is sampled.
 */
import type { ClusterEvent } from '@shardlab/cluster'
import type { IndexSizes } from '../measured/index-sizes.js'
import type { ShardPeak } from '../types.js'

export interface ShardSizes {
  /** Of owned documents. */
  readonly bytes: number
  /**
   * Of all documents, of other collections and temporary ones, too; in mode `metadata` with their
   * indexes.
   */
  readonly diskBytes: number
  readonly orphans: number
}

const nothing: ShardSizes = { bytes: 0, diskBytes: 0, orphans: 0 }

interface CollectionSizes extends ShardSizes {
  /** Owned. */
  readonly documents: number
}

const empty: CollectionSizes = { ...nothing, documents: 0 }

interface Shard {
  readonly byCollection: Map<string, CollectionSizes>
  now: ShardSizes
  most: ShardSizes
  /** It has crashed and reported nothing since. */
  isSilent: boolean
}

export class SizePeaks {
  readonly #namespaces: ReadonlySet<string>
  readonly #indexes: Pick<IndexSizes, 'perDocument'>
  readonly #shards = new Map<string, Shard>()
  #orphans = 0
  #mostOrphans = 0

  /** @param namespaces their owned bytes and orphans count */
  constructor(namespaces: readonly string[], indexes: Pick<IndexSizes, 'perDocument'>) {
    this.#namespaces = new Set(namespaces)
    this.#indexes = indexes
  }

  /** The maxima begin now. */
  begin(): void {
    for (const shard of this.#shards.values()) shard.most = shard.now
    this.#mostOrphans = this.#orphans
  }

  /** A shard that is down keeps its last sizes. */
  of(shard: string): ShardSizes {
    return this.#shards.get(shard)?.now ?? nothing
  }

  peakOf(shard: string): ShardPeak {
    return this.#shards.get(shard)?.most ?? nothing
  }

  /** What shards own of a collection. */
  totalOf(ns: string): { readonly bytes: number; readonly indexBytes: number } {
    let [bytes, documents] = [0, 0]
    for (const { byCollection } of this.#shards.values()) {
      const own = byCollection.get(ns)
      bytes += own?.bytes ?? 0
      documents += own?.documents ?? 0
    }
    return { bytes, indexBytes: documents * this.#indexes.perDocument(ns) }
  }

  /** Of all shards at one instant. */
  get mostOrphans(): number {
    return this.#mostOrphans
  }

  readonly onEvent = (event: ClusterEvent): void => {
    if (event.type === 'member') {
      const shard = this.#shards.get(event.member)
      if (shard === undefined) return
      if (event.state !== 'started') shard.isSilent = true
      // A shard reports all collections of its disk when it starts: this one has lost its disk.
      else if (shard.isSilent) this.#clear(shard)
      return
    }
    if (event.type !== 'collection-size') return
    const shard = this.#shard(event.shard)
    if (shard.isSilent) this.#clear(shard)
    const isCounted = this.#namespaces.has(event.ns)
    const bytes = isCounted ? event.ownedBytes : 0
    const orphans = isCounted ? event.orphans : 0
    const before = shard.byCollection.get(event.ns) ?? empty
    const diskBytes = event.bytes + event.documents * this.#indexes.perDocument(event.ns)
    shard.byCollection.set(event.ns, { bytes, diskBytes, orphans, documents: event.documents - event.orphans })
    this.#change(shard, {
      bytes: shard.now.bytes + bytes - before.bytes,
      diskBytes: shard.now.diskBytes + diskBytes - before.diskBytes,
      orphans: shard.now.orphans + orphans - before.orphans,
    })
  }

  #shard(id: string): Shard {
    let shard = this.#shards.get(id)
    if (shard === undefined)
      this.#shards.set(id, (shard = { byCollection: new Map(), now: nothing, most: nothing, isSilent: false }))
    return shard
  }

  #clear(shard: Shard): void {
    shard.isSilent = false
    shard.byCollection.clear()
    this.#change(shard, nothing)
  }

  #change(shard: Shard, now: ShardSizes): void {
    const { most } = shard
    this.#orphans += now.orphans - shard.now.orphans
    this.#mostOrphans = Math.max(this.#mostOrphans, this.#orphans)
    shard.now = now
    shard.most = {
      bytes: Math.max(most.bytes, now.bytes),
      diskBytes: Math.max(most.diskBytes, now.diskBytes),
      orphans: Math.max(most.orphans, now.orphans),
    }
  }
}
