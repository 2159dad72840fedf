/** A collection in mode `metadata`. */
import { packRanges, RequestFailedError, type Random, type SizedRange } from '@shardlab/actor'
import { decode } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import type { CollectionPlacement } from '@shardlab/sharding'
import type { FieldSource, FieldSources } from '../file/application.js'
import type { CollectionSource } from '../file/schema.js'
import { DocumentMaker } from '../keys/document-maker.js'
import { fieldKeysOf, type Progress } from '../keys/keys.js'
import { keyWeightsOf, type KeyWeights } from '../keys/key-weights.js'
import type { CatalogView } from '../run/catalog-view.js'
import { ScenarioError } from '../run/failure.js'
import { KeySpace, type FieldWeights, type Weighted } from './key-space.js'
import { Owners } from './owners.js'

/** A shard that did not reply has not added the documents. */
const growTimeoutMs = 60_000

/** Values that are listed one by one. */
const listedMax = { single: 1000, hashedOrCompound: 10_000 } as const
/** A position has so many. */
const positionFields = 3

/** One field of the key. */
export interface PlacedField {
  readonly name: string
  readonly isGrowing: boolean
  readonly of: KeyWeights
}

const isGrowing = ({ distribution }: FieldSource): boolean =>
  distribution === 'monotonic' || distribution === 'latest' || distribution === 'number'

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
  #expired = 0
  /** By field: its next monotonic value. */
  readonly #nextKeys = new Map<string, number>()

  constructor(cluster: SimulatedCluster, catalog: CatalogView, source: CollectionSource, random: Random) {
    this.ns = source.ns
    this.space = new KeySpace(source.key)
    this.#cluster = cluster
    this.#catalog = catalog
    this.#source = source
    this.#random = random
  }

  progressOf(field: string): Progress {
    return { documents: this.#documents, nextKey: this.#nextKeys.get(field) ?? 0 }
  }

  /**
   * Of the fields of the key. Documents with equal values are spread by their number, which may
   * become a field of the key later.
   * @throws OptionError as {@link keyWeightsOf}
   */
  weights(fields: FieldSources): PlacedField[] {
    const names = Object.keys(this.#source.key)
    const listed = this.space.isHashed || names.length > 1 ? listedMax.hashedOrCompound : listedMax.single
    const number: FieldSource = { distribution: 'number' }
    const sources = names.map((name) => [name, fields[name] ?? number] as const)
    if (names.length < positionFields) sources.push(['', number])
    return sources.map(([name, source]) => ({ name, isGrowing: isGrowing(source), of: keyWeightsOf(source, listed) }))
  }

  /** The real size of a document of this nominal size. */
  documentBytes(fields: FieldSources, bytes: number): number {
    return new DocumentMaker(this.#random.fork('a document')).make(fieldKeysOf(fields), bytes).length
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

  /** null: not sharded. As of the last call of {@link owners}. */
  get placement(): CollectionPlacement | null {
    return this.#placement
  }

  /** Counts the documents as part of the collection. */
  place(fields: readonly PlacedField[], count: number): Weighted[] {
    const placed = this.space.places(
      fields.map(({ name, isGrowing, of }): FieldWeights => {
        const weights = of.ofDocuments(this.progressOf(name), count)
        return { weights, isGrowing }
      }),
    )
    for (const { name, of } of fields)
      this.#nextKeys.set(name, Math.max(this.progressOf(name).nextKey + (of.isMonotonic ? count : 0), of.below))
    this.#documents += count
    return placed
  }

  /** Of deleted documents with values that operations draw. */
  placeDeleted(fields: readonly PlacedField[]): Weighted[] {
    const weightsOf = ({ name, of }: PlacedField) => of.ofOperations(this.progressOf(name))
    return this.space.places(fields.map((field) => ({ weights: weightsOf(field), isGrowing: false })))
  }

  /** Of the oldest documents, which are deleted. */
  placeExpired(fields: readonly PlacedField[], count: number): Weighted[] {
    this.#expired += count
    const oldest = [{ from: 0, to: this.#expired, weight: 1 }]
    return this.space.places(
      fields.map(({ name, isGrowing, of }) => ({
        weights: isGrowing ? oldest : of.ofDocuments(this.progressOf(name), 0),
        isGrowing: false,
      })),
    )
  }

  /**
   * By shard, in whole documents; the owners of fractions are drawn.
   */
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
    parts.forEach(({ x0, y0, z0, x1, y1, z1, weight, shard }, i) => {
      share += weight
      const documents = (i === parts.length - 1 ? count : Math.min(count, Math.floor(share * count + offset))) - given
      if (documents <= 0) return
      given += documents
      const sized = { x0, y0, z0, x1, y1, z1, documents, bytes: documents * documentBytes }
      const known = ranges.get(shard)
      if (known === undefined) ranges.set(shard, [sized])
      else known.push(sized)
    })
    return ranges
  }

  /**
   * @param ranges of a negative size for deleted documents
   * @returns the number of added or deleted documents: none for ranges that the shard no longer
   * owns
   * @throws ScenarioError if the shard refuses them
   */
  async change(shard: string, ranges: readonly SizedRange[], inBackground: boolean): Promise<number> {
    for (const range of ranges) if (range.documents > 0) this.space.noteGrown(range)
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
