/** A collection in mode `metadata`. */
import { packRanges, RequestFailedError, type Random, type SizedRange } from '@shardlab/actor'
import { decode } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import type { CollectionPlacement } from '@shardlab/sharding'
import type { CollectionSource, KeysSource } from '../file/schema.js'
import { DocumentMaker } from '../keys/document-maker.js'
import { keysOf, type Progress } from '../keys/keys.js'
import { keyWeightsOf, type KeyWeights } from '../keys/key-weights.js'
import type { CatalogView } from '../run/catalog-view.js'
import { ScenarioError } from '../run/failure.js'
import { KeySpace, type Weighted } from './key-space.js'
import { Owners } from './owners.js'

/** A shard that did not reply has not added the documents. */
const growTimeoutMs = 60_000

export class MeasuredCollection {
  readonly ns: string
  readonly space: KeySpace
  readonly #cluster: SimulatedCluster
  readonly #catalog: CatalogView
  readonly #source: CollectionSource
  readonly #random: Random
  #placement: CollectionPlacement | null = null
  #owners = new Owners(null)
  #documents = 0
  #nextKey = 0

  constructor(cluster: SimulatedCluster, catalog: CatalogView, source: CollectionSource, random: Random) {
    this.ns = source.ns
    this.space = new KeySpace(source.key)
    this.#cluster = cluster
    this.#catalog = catalog
    this.#source = source
    this.#random = random
  }

  get progress(): Progress {
    return { documents: this.#documents, nextKey: this.#nextKey }
  }

  /** @throws OptionError as {@link keyWeightsOf} */
  weights(keys: KeysSource): KeyWeights {
    return keyWeightsOf(keys, this.space.isHashed || this.space.isCompound ? 10_000 : 1000)
  }

  /** The real size of a document of this nominal size. */
  documentBytes(keys: KeysSource, bytes: number): number {
    return new DocumentMaker(this.#source, this.#random.fork('a document')).make(keysOf(keys), bytes).length
  }

  /** While the config server is down, the last known owners. */
  async owners(): Promise<Owners> {
    const placement = await this.#catalog.placement()
    if (placement !== this.#placement) {
      this.#placement = placement
      this.#owners = new Owners(placement?.table ?? null)
    }
    return this.#owners
  }

  async chunks(): Promise<number> {
    return (await this.#catalog.placement())?.table.chunkCount ?? 0
  }

  /** Counts the documents as part of the collection. */
  place(weights: KeyWeights, count: number): Weighted[] {
    const placed = this.space.ofDocuments(weights.ofDocuments(this.progress, count), this.progress, count)
    this.#documents += count
    this.#nextKey = Math.max(this.#nextKey + (weights.isMonotonic ? count : 0), weights.below)
    return placed
  }

  /** By shard, in whole documents; the owners of fractions are drawn. */
  rangesOf(
    owners: Owners,
    placed: readonly Weighted[],
    count: number,
    documentBytes: number,
  ): Map<string, SizedRange[]> {
    const ranges = new Map<string, SizedRange[]>()
    const offset = this.#random.fraction()
    let [share, given] = [0, 0]
    const parts = placed.flatMap((part) => owners.split(part))
    parts.forEach(({ weight, shard, ...range }, i) => {
      share += weight
      const documents = (i === parts.length - 1 ? count : Math.min(count, Math.floor(share * count + offset))) - given
      if (documents <= 0) return
      given += documents
      if (range.x0 === range.x1) this.space.noteGrown(range.x0, range.y1)
      const sized = { ...range, documents, bytes: documents * documentBytes }
      const known = ranges.get(shard)
      if (known === undefined) ranges.set(shard, [sized])
      else known.push(sized)
    })
    return ranges
  }

  /**
   * @returns the number of added documents: none for ranges that the shard no longer owns
   * @throws ScenarioError if the shard refuses them
   */
  async grow(shard: string, ranges: readonly SizedRange[], inBackground: boolean): Promise<number> {
    const request = { ns: this.ns, ranges: packRanges(ranges) }
    try {
      const { documents, error } = await (inBackground
        ? this.#cluster.requestInBackground(shard, 'shard.measure', request, growTimeoutMs)
        : this.#cluster.request(shard, 'shard.measure', request, growTimeoutMs))
      if (error !== null)
        throw new ScenarioError(`${shard} refused data of ${this.ns}: ${String(decode(error)['errmsg'])}.`)
      return documents
    } catch (error) {
      if (error instanceof RequestFailedError) return 0
      throw error
    }
  }
}
