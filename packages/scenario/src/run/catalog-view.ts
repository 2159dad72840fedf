/**
 * Owners of a collection's chunks according to the catalog. Reads bypass the network, so they do
 * not affect the simulated cluster.
 */
import { attachedObject, Attachment, configAddress, type Address } from '@shardlab/actor'
import { findField, sameBytes, toExtendedJson } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import {
  applyPlacementAnswer,
  knownVersion,
  parseChunk,
  TableUpdate,
  type CollectionPlacement,
  type PlacementVersion,
} from '@shardlab/sharding'
import type { ReplicaSets } from '../sets/replica-sets.js'
import type { ChunkSample } from '../types.js'

/** If a collection has more chunks, owners are sampled at this many places in its key space. */
const placesMax = 1000

const chunksPerAnswer = 10_000

export class CatalogView {
  readonly #cluster: SimulatedCluster
  readonly #sets: ReplicaSets
  readonly #ns: string
  #placement: CollectionPlacement | null = null
  /** The member that was read last; null: none. */
  #config: Address | null = null
  /** A chunk was marked as jumbo since the last read; the mark gives it no new version. */
  #isMarked = false
  /** Lower bounds of marked chunks. */
  #jumbo = new Set<string>()
  /** Displayed lower bounds: of all chunks, or of the sampled places. */
  #texts = new Map<string, string>()
  /** Where owners are sampled; null: at every chunk. */
  #places: readonly string[] | null = null

  constructor(cluster: SimulatedCluster, sets: ReplicaSets, ns: string) {
    this.#cluster = cluster
    this.#sets = sets
    this.#ns = ns
    cluster.onEvent((event) => {
      if (event.type === 'jumbo' && event.ns === ns) this.#isMarked = true
    })
  }

  /**
   * The same object as long as nothing has changed; null: the collection is not sharded. While the
   * config server is down or has no primary, the placement of the last read.
   */
  async placement(): Promise<CollectionPlacement | null> {
    const [known, isMarked, config] = [this.#placement, this.#isMarked, this.#config]
    const isRead = await this.#sets.ask(configAddress, async (primary) => {
      await this.#read(primary)
      return true
    })
    if (isRead === undefined) {
      this.#placement = known
      this.#isMarked ||= isMarked
      this.#config = config
    }
    return this.#placement
  }

  async #read(config: Address): Promise<void> {
    const before = this.#placement
    // What an earlier primary had can be rolled back.
    const isOther = this.#config !== null && config !== this.#config
    const known = isOther ? null : before
    this.#config = config
    const isMarked = this.#isMarked || isOther
    this.#isMarked = false
    const { collection, chunks, full } = await this.#cluster.peek(config, 'config.get-collection', {
      ns: this.#ns,
      since: knownVersion(known),
    })
    const given = chunks instanceof Attachment ? attachedObject(chunks, TableUpdate) : chunks
    const placement = applyPlacementAnswer(this.#ns, known, { collection, chunks: given, full })
    this.#placement = placement
    if (placement === null) return
    // A resharded collection has other keys.
    if (before !== null && !sameBytes(before.uuid, placement.uuid)) this.#places = null
    // The first read has missed no mark, so it need not read the documents of many chunks.
    if (full || isMarked) await this.#readWhole(placement, isMarked || before !== null)
    else if (placement !== known) await this.#readSince(placement, known!.table.version)
  }

  get jumboChunks(): number {
    return this.#jumbo.size
  }

  /** As of the last call of {@link placement}. */
  owners(): readonly ChunkSample[] {
    const table = this.#placement?.table
    if (table === undefined) return []
    if (this.#places !== null)
      return this.#places.map((key) => ({ key, min: this.#texts.get(key)!, shard: table.shardOf(key) }))
    return [...table.chunks()].map(({ min: key, shard }) => ({ key, min: this.#texts.get(key)!, shard }))
  }

  /** @param mayBeMarked a chunk that is not shown may be marked */
  async #readWhole(placement: CollectionPlacement, mayBeMarked: boolean): Promise<void> {
    this.#jumbo = new Set()
    if (this.#places === null) this.#texts = new Map()
    const isSampled = this.#places !== null || placement.table.chunkCount > placesMax
    if (!isSampled || mayBeMarked) await this.#readSince(placement, null)
    if (isSampled && this.#places === null) await this.#choosePlaces(placement)
  }

  /** @param since null: all chunks */
  async #readSince(placement: CollectionPlacement, since: PlacementVersion | null): Promise<void> {
    for (let from = since; ;) {
      const documents = await this.#chunks(from, chunksPerAnswer)
      for (const document of documents) this.#note(placement, document)
      if (documents.length < chunksPerAnswer) break
      from = versionIn(placement, documents.at(-1)!)
    }
    if (this.#places === null && placement.table.chunkCount > placesMax) await this.#choosePlaces(placement)
  }

  #note({ shardKey, table }: CollectionPlacement, document: Uint8Array): void {
    const isJumbo = findField(document, 'jumbo')?.isTruthy() === true
    const isShown = this.#places === null && table.chunkCount <= placesMax
    if (!isShown && !isJumbo && this.#jumbo.size === 0) return
    const { min, max } = parseChunk(document)
    const [from, to] = [shardKey.keyStringOfBound(min)!, shardKey.keyStringOfBound(max)!]
    for (const marked of this.#jumbo) if (from <= marked && marked < to) this.#jumbo.delete(marked)
    if (isJumbo) this.#jumbo.add(from)
    if (isShown) this.#texts.set(from, toExtendedJson(min))
  }

  async #choosePlaces({ table }: CollectionPlacement): Promise<void> {
    const places = table.evenlySpread(placesMax)
    const texts = new Map<string, string>()
    for (const place of places) {
      const { major, minor } = table.chunkAt(place)
      const [epoch, seconds, increment] = table.version
      const before: PlacementVersion =
        minor > 0 ? [epoch, seconds, increment, major, minor - 1] : [epoch, seconds, increment, major - 1, 2 ** 32 - 1]
      const [document] = await this.#chunks(before, 1)
      texts.set(place, toExtendedJson(parseChunk(document!).min))
    }
    this.#places = places
    this.#texts = texts
  }

  /** In order of version; `since` null: of all chunks. */
  async #chunks(since: PlacementVersion | null, limit: number): Promise<readonly Uint8Array[]> {
    const request = { ns: this.#ns, since, limit }
    return (await this.#cluster.peek(this.#config!, 'config.get-chunks', request)).chunks
  }
}

function versionIn({ table }: CollectionPlacement, chunk: Uint8Array): PlacementVersion {
  const { major, minor } = parseChunk(chunk)
  const [epoch, seconds, increment] = table.version
  return [epoch, seconds, increment, major, minor]
}
