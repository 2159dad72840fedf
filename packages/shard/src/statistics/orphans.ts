/** How many documents of a collection this shard does not own, as its range deletions say. Server: balancer_stats_registry.cpp. */
import { BsonType, findField, hexOf } from '@shardlab/bson'
import type { StorageNode } from '@shardlab/node'
import type { Collection } from '@shardlab/storage'
import { orphansIn } from '../migration/range-deletion-task.js'
import { partsOf } from '../shard-parts.js'

const rangeDeletions = 'config.rangeDeletions'

/** The sum of `numOrphanDocs` over the range deletions of a collection; 0 when there is none. */
export function orphanCountOf(node: StorageNode, { uuid }: Collection): number {
  return partsOf(node).orphans.of(uuid)
}

/** The sums of all collections, kept up to date from when they are asked for first. */
export class OrphanCounts {
  readonly #node: StorageNode
  #byCollection: Map<string, number> | null = null
  #isWatching = false

  constructor(node: StorageNode) {
    this.#node = node
  }

  of(collectionUuid: Uint8Array): number {
    this.#watch()
    this.#byCollection ??= this.#sums()
    return this.#byCollection.get(hexOf(collectionUuid)) ?? 0
  }

  #watch(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    this.#node.observe(({ op, ns, object }, preImage) => {
      if (op === 'c') this.#byCollection = null
      if (ns !== rangeDeletions || this.#byCollection === null) return
      if (preImage !== null) add(this.#byCollection, preImage, -1)
      if (op !== 'd') add(this.#byCollection, object, 1)
    })
  }

  #sums(): Map<string, number> {
    const sums = new Map<string, number>()
    const scan = this.#node.collection(rangeDeletions)?.scan()
    for (let record = scan?.next() ?? null; record !== null; record = scan!.next()) add(sums, record.document, 1)
    return sums
  }
}

/** Clients may write there: what is no range deletion does not count. */
function add(sums: Map<string, number>, task: Uint8Array, sign: 1 | -1): void {
  const collection = findField(task, 'collectionUuid')
  if (collection?.type !== BsonType.binary) return
  const uuid = hexOf(collection.asBinary())
  sums.set(uuid, (sums.get(uuid) ?? 0) + sign * orphansIn(findField(task, 'numOrphanDocs')))
}
