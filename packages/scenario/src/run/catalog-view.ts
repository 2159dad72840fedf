/** Owners of a collection's chunks according to the catalog, read past the network. */
import { configAddress } from '@shardlab/actor'
import { findField, toExtendedJson } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import {
  knownVersion,
  parseChunk,
  SharedPlacements,
  type CollectionPlacement,
  type PlacementAnswer,
} from '@shardlab/sharding'
import type { ChunkSample } from '../types.js'

/** With more chunks, owners are sampled at this many positions. */
const placesMax = 1000

export class CatalogView {
  readonly #cluster: SimulatedCluster
  readonly #ns: string
  readonly #placements: SharedPlacements
  #placement: CollectionPlacement | null = null
  /** Jumbo marks give a chunk no new version. */
  #isMarked = false
  /** Lower bounds of marked chunks. */
  #jumbo = new Set<string>()
  /** Displayed lower bounds, of all chunks or of the sampled ones. */
  #texts = new Map<string, string>()
  /** Sampled positions in the key space; null: every chunk. */
  #places: readonly string[] | null = null

  constructor(cluster: SimulatedCluster, ns: string) {
    this.#cluster = cluster
    this.#ns = ns
    this.#placements = new SharedPlacements(cluster.sharing)
    cluster.onEvent((event) => {
      if (event.type === 'jumbo' && event.ns === ns) this.#isMarked = true
    })
  }

  /**
   * The same object while nothing has changed; null: unsharded. The last known state while the
   * config server is down.
   */
  async placement(): Promise<CollectionPlacement | null> {
    const config = this.#cluster.members().find(({ address }) => address === configAddress)
    if (config?.state !== 'running') return this.#placement
    const known = this.#isMarked ? null : (this.#placement ?? this.#firstPlacement())
    this.#isMarked = false
    const answer = await this.#cluster.peek(configAddress, 'config.get-collection', {
      ns: this.#ns,
      since: knownVersion(known),
    })
    if (!answer.full && answer.chunks.length === 0 && known === this.#placement) return known
    this.#placement = this.#placements.seenAfter(this.#ns, answer.full ? null : known, answer)
    if (this.#placement !== null) this.#note(this.#placement, answer)
    return this.#placement
  }

  get jumboChunks(): number {
    return this.#jumbo.size
  }

  /** Owners for a sample, as of the last {@link placement}. */
  owners(): readonly ChunkSample[] {
    const table = this.#placement?.table
    if (table === undefined) return []
    if (this.#places !== null)
      return this.#places.map((min) => ({ min, minText: this.#texts.get(min)!, shard: table.shardOf(min) }))
    return [...table.chunks()].map(({ min, shard }) => ({ min, minText: this.#texts.get(min)!, shard }))
  }

  /** With many chunks, a placement that a member has read already; null: read everything. */
  #firstPlacement(): CollectionPlacement | null {
    return this.#placements.left(this.#ns).length === 0 ? null : this.#placements.before(this.#ns, null)
  }

  #note({ shardKey, table }: CollectionPlacement, { chunks, full }: PlacementAnswer): void {
    if (full) {
      this.#jumbo = new Set()
      if (this.#places === null) this.#texts = new Map()
    }
    const isSampled = this.#places !== null || (this.#texts.size === 0 && table.chunkCount > placesMax)
    for (const document of chunks) {
      const jumbo = findField(document, 'jumbo')
      if (isSampled && (jumbo === undefined || !jumbo.isTruthy()) && this.#jumbo.size === 0) continue
      const { min, max } = parseChunk(document)
      const [from, to] = [shardKey.keyStringOfBound(min)!, shardKey.keyStringOfBound(max)!]
      for (const marked of this.#jumbo) if (from <= marked && marked < to) this.#jumbo.delete(marked)
      if (jumbo?.isTruthy() === true) this.#jumbo.add(from)
      if (!isSampled) this.#texts.set(from, toExtendedJson(min))
    }
    if (this.#places === null && table.chunkCount > placesMax)
      this.#choosePlaces(this.#placement!, full ? chunks : this.#placements.left(this.#ns))
  }

  #choosePlaces({ shardKey, table }: CollectionPlacement, documents: readonly Uint8Array[]): void {
    const places = table.evenlySpread(placesMax)
    const texts = new Map<string, string>()
    const wanted = new Set(places)
    // In the order of versions, which is key order until chunks change: so the first pass finds all
    // of them.
    const look = (document: Uint8Array) => {
      const { min } = parseChunk(document)
      const from = shardKey.keyStringOfBound(min)!
      if (wanted.delete(from)) texts.set(from, toExtendedJson(min))
    }
    for (let i = 0; i < placesMax; i++) {
      const document = documents[Math.floor((i * documents.length) / placesMax)]
      if (document !== undefined) look(document)
    }
    for (const place of places) {
      const known = this.#texts.get(place)
      if (known !== undefined && wanted.delete(place)) texts.set(place, known)
    }
    if (wanted.size > 0) for (const document of documents) look(document)
    this.#places = places
    this.#texts = texts
  }
}
