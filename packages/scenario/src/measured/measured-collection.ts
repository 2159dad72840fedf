/** A collection in mode `metadata`. */
import {
  NotPrimaryError,
  packRanges,
  RequestFailedError,
  type Random,
  type RekeyedRanges,
  type SizedRange,
} from '@shardlab/actor'
import { decode, sameBytes } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import type { CollectionPlacement, ShardKeyPattern } from '@shardlab/sharding'
import type { FieldSource, FieldSources } from '../file/application.js'
import type { CollectionSource } from '../file/schema.js'
import { DocumentMaker } from '../keys/document-maker.js'
import { fieldKeysOf, type Keys, type Progress } from '../keys/keys.js'
import { keyWeightsOf, type KeyWeights } from '../keys/key-weights.js'
import type { CatalogView } from '../run/catalog-view.js'
import type { ReplicaSets } from '../sets/replica-sets.js'
import { ScenarioError } from '../run/failure.js'
import { KeySpace, type FieldWeights, type Weighted } from './key-space.js'
import { Owners } from './owners.js'
import { rekeyed, type RekeyedField } from './rekeyed.js'

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

interface KeyField {
  readonly name: string
  readonly hashed: boolean
}

const isGrowing = ({ distribution }: FieldSource): boolean =>
  distribution === 'monotonic' || distribution === 'latest' || distribution === 'number'

export class MeasuredCollection {
  readonly ns: string
  #space: KeySpace
  /** Of the shard key. */
  #fields: readonly KeyField[]
  readonly #cluster: SimulatedCluster
  readonly #sets: ReplicaSets
  readonly #catalog: CatalogView
  /** By name. */
  readonly #sources: FieldSources
  readonly #keys: ReadonlyMap<string, Keys>
  readonly #random: Random
  #placement: CollectionPlacement | null = null
  #owners = new Owners(null)
  #documents = 0
  #expired = 0
  /** By field: its next monotonic value. */
  readonly #nextKeys = new Map<string, number>()
  readonly #placed = new Map<FieldSources, readonly PlacedField[]>()
  /** When the resharding began: later documents have higher values of growing fields. */
  #reshardedFrom: ReadonlyMap<string, number> = new Map()

  /** @param sources of the collection's fields */
  constructor(
    { cluster, sets }: { readonly cluster: SimulatedCluster; readonly sets: ReplicaSets },
    catalog: CatalogView,
    { source, sources }: { readonly source: CollectionSource; readonly sources: FieldSources },
    random: Random,
  ) {
    this.ns = source.ns
    this.#fields = Object.entries(source.key).map(([name, kind]) => ({ name, hashed: kind === 'hashed' }))
    this.#space = new KeySpace(this.#fields.map(({ hashed }) => hashed))
    this.#sources = sources
    this.#keys = fieldKeysOf(sources)
    this.#cluster = cluster
    this.#sets = sets
    this.#catalog = catalog
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
  weights(fields: FieldSources): readonly PlacedField[] {
    let placed = this.#placed.get(fields)
    if (placed === undefined) this.#placed.set(fields, (placed = placedFields(this.#fields, fields)))
    return placed
  }

  /** The documents of ranges at their positions under another shard key. */
  rekeyed({ from, to, ranges, isGrowth }: Omit<RekeyedRanges, 'ns'>): SizedRange[] {
    if (!isGrowth) this.#reshardedFrom = this.#growth()
    const newFields = fieldsOf(to)
    const valuesFrom = isGrowth ? this.#reshardedFrom : new Map<string, number>()
    const placed = placedFields(newFields, this.#sources)
    const rekeying = {
      oldFields: numbered(fieldsOf(from)).map((field) => this.#rekeyedField(field)),
      oldSpace: this.#space,
      newFields: placed.map(({ name, isGrowing, of }, i) => {
        const progress = this.progressOf(name)
        const low = valuesFrom.get(name) ?? 0
        const high = Math.max(low + 1, of.isMonotonic ? progress.nextKey : progress.documents)
        return {
          ...this.#rekeyedField({ name, hashed: newFields[i]?.hashed ?? false }),
          weights: isGrowing ? [{ from: low, to: high, weight: 1 }] : of.ofDocuments(progress, 0),
        }
      }),
      newSpace: new KeySpace(newFields.map(({ hashed }) => hashed)),
    }
    return rekeyed(ranges, rekeying, this.#random.fraction())
  }

  /** Fields without a distribution all have the number of the document. */
  #rekeyedField({ name, hashed }: KeyField): RekeyedField {
    return { name: (this.#sources[name]?.distribution ?? 'number') === 'number' ? '' : name, hashed }
  }

  /** The next value of each growing field. */
  #growth(): ReadonlyMap<string, number> {
    const names = new Set(['', ...Object.keys(this.#sources)])
    return new Map(
      [...names].map((name) => {
        const { documents, nextKey } = this.progressOf(name)
        return [name, (this.#sources[name]?.distribution ?? 'number') === 'number' ? documents : nextKey]
      }),
    )
  }

  #reshard(shardKey: ShardKeyPattern): void {
    const growth = this.#growth()
    this.#fields = fieldsOf(shardKey)
    this.#space = new KeySpace(
      this.#fields.map(({ hashed }) => hashed),
      numbered(this.#fields).map(({ name }) => growth.get(name) ?? this.#documents),
    )
    this.#placed.clear()
  }

  /** The real size of a document of this nominal size. */
  documentBytes(fields: FieldSources, bytes: number): number {
    return new DocumentMaker(this.#random.fork('a document')).make(fieldKeysOf(fields), bytes).length
  }

  /** While the config server is down, the last known owners. */
  async owners(): Promise<Owners> {
    const placement = await this.#catalog.placement()
    if (placement !== this.#placement) {
      const known = this.#placement
      if (known !== null && placement !== null && !sameBytes(known.uuid, placement.uuid))
        this.#reshard(placement.shardKey)
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
    const placed = this.#space.places(
      fields.map(({ name, isGrowing, of }): FieldWeights => {
        const weights = of.ofDocuments(this.progressOf(name), count)
        return { weights, isGrowing }
      }),
    )
    // Operations use fields outside of the key, too, and a later key may have them.
    const all = new Map<string, Pick<Keys, 'isMonotonic' | 'below'>>(this.#keys)
    for (const { name, of } of fields) all.set(name, of)
    for (const [name, { isMonotonic, below }] of all)
      this.#nextKeys.set(name, Math.max(this.progressOf(name).nextKey + (isMonotonic ? count : 0), below))
    this.#documents += count
    return placed
  }

  /** Of deleted documents with values that operations draw. */
  placeDeleted(fields: readonly PlacedField[]): Weighted[] {
    const weightsOf = ({ name, of }: PlacedField) => of.ofOperations(this.progressOf(name))
    return this.#space.places(fields.map((field) => ({ weights: weightsOf(field), isGrowing: false })))
  }

  /** Of the oldest documents, which are deleted. */
  placeExpired(fields: readonly PlacedField[], count: number): Weighted[] {
    this.#expired += count
    const oldest = [{ from: 0, to: this.#expired, weight: 1 }]
    return this.#space.places(
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
   * owns, and none without a primary
   * @throws ScenarioError if the shard refuses them
   */
  async change(shard: string, ranges: readonly SizedRange[], inBackground: boolean): Promise<number> {
    for (const range of ranges) if (range.documents > 0) this.#space.noteGrown(range)
    const request = { ns: this.ns, uuid: this.#placement!.uuid, ranges: packRanges(ranges) }
    const primary = await this.#sets.primaryOf(shard)
    if (primary === null) return 0
    try {
      const { documents, error } = await (inBackground
        ? this.#cluster.requestInBackground(primary, 'shard.measure', request, growTimeoutMs)
        : this.#cluster.request(primary, 'shard.measure', request, growTimeoutMs))
      if (error !== null)
        throw new ScenarioError(`${shard} refused data of ${this.ns}: ${String(decode(error)['errmsg'])}.`)
      return documents
    } catch (error) {
      if (error instanceof RequestFailedError || error instanceof NotPrimaryError) return 0
      throw error
    }
  }
}

function fieldsOf({ fields }: RekeyedRanges['from']): KeyField[] {
  return fields.map(({ path, hashed }) => ({ name: path, hashed }))
}

/** With one more field, the number of the document, if the positions have room for it. */
function numbered(fields: readonly KeyField[]): readonly KeyField[] {
  return fields.length < positionFields ? [...fields, { name: '', hashed: false }] : fields
}

function placedFields(key: readonly KeyField[], sources: FieldSources): PlacedField[] {
  const listed = key[0]!.hashed || key.length > 1 ? listedMax.hashedOrCompound : listedMax.single
  return numbered(key).map(({ name }) => {
    const source = sources[name] ?? { distribution: 'number' }
    return { name, isGrowing: isGrowing(source), of: keyWeightsOf(source, listed) }
  })
}
