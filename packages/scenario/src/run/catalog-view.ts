/** The chunks of a collection as the catalog has them, asked for past the network. */
import { configAddress } from '@shardlab/actor'
import { ChunkMap } from '@shardlab/balancer'
import { toExtendedJson } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import type { ChunkSample } from '../types.js'

/** Of more chunks only those are asked for again that have changed, and only so many places are sampled. */
const chunksMax = 1000

export class CatalogView {
  readonly #cluster: SimulatedCluster
  readonly #ns: string
  #map: ChunkMap | null = null
  /** A chunk that is marked as jumbo gets no new version. */
  #isMarked = false
  /** Places in the key space at which owners are sampled, with their texts; null: at every chunk. */
  #places: readonly (readonly [key: string, text: string])[] | null = null

  constructor(cluster: SimulatedCluster, ns: string) {
    this.#cluster = cluster
    this.#ns = ns
    cluster.onEvent((event) => {
      if (event.type === 'jumbo' && event.ns === ns) this.#isMarked = true
    })
  }

  /** Null: the collection is not sharded. While the config server is down, as it was last. */
  async map(): Promise<ChunkMap | null> {
    const config = this.#cluster.members().find(({ address }) => address === configAddress)
    if (config?.state !== 'running') return this.#map
    const known = this.#isMarked || (this.#map?.count ?? 0) <= chunksMax ? null : this.#map
    this.#isMarked = false
    const answer = await this.#cluster.peek(configAddress, 'config.get-collection', { ns: this.#ns, since: known?.version ?? null })
    const map = ChunkMap.after(known, answer)
    // Who has made something of the last one need not do it again.
    const isSame =
      map !== null && this.#map !== null && String(map.version) === String(this.#map.version) && known === null && !this.#differs(map)
    if (!isSame) this.#map = map
    return this.#map
  }

  /** Who owns what, for a sample. */
  owners(): readonly ChunkSample[] {
    const map = this.#map
    if (map === null) return []
    if (map.count <= chunksMax && this.#places === null)
      return map.chunks.map(({ min, minDocument, shard }) => ({ min, minText: toExtendedJson(minDocument), shard }))
    this.#places ??= evenly(map)
    return this.#places.map(([min, minText]) => ({ min, minText, shard: map.holding(min)!.shard }))
  }

  /** Same versions, another mark? */
  #differs(map: ChunkMap): boolean {
    return jumboCount(map) !== jumboCount(this.#map!)
  }
}

export function jumboCount(map: ChunkMap): number {
  return map.chunks.reduce((sum, { isJumbo }) => sum + (isJumbo ? 1 : 0), 0)
}

function evenly({ chunks }: ChunkMap): (readonly [key: string, text: string])[] {
  return Array.from({ length: chunksMax }, (_, i) => {
    const { min, minDocument } = chunks[Math.floor((i * chunks.length) / chunksMax)]!
    return [min, toExtendedJson(minDocument)] as const
  })
}
