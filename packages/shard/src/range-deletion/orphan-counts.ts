/** Server: balancer_stats_registry.cpp. */
import { BsonType, findField, hexOf } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import type { OrphanCounter } from '../host/host.js'
import { orphansIn } from './range-deletion-task.js'

const rangeDeletions = 'config.rangeDeletions'

/** Sums over the range deletions of each collection, maintained since the first request for one. */
export class OrphanCounts implements OrphanCounter {
  readonly #node: NodeHost
  #byCollection: Map<string, number> | null = null
  #isWatching = false

  constructor(node: NodeHost) {
    this.#node = node
  }

  of(collectionUuid: Uint8Array): number {
    this.watch()
    this.#byCollection ??= this.#sums()
    return this.#byCollection.get(hexOf(collectionUuid)) ?? 0
  }

  watch(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    this.#node.observe(({ op, ns, object }, preImage) => {
      if (op === 'c') this.#byCollection = null
      if (ns !== rangeDeletions || this.#byCollection === null) return
      const before = preImage === null ? 0 : orphansOf(preImage)
      const after = op === 'd' ? 0 : orphansOf(object)
      // Most changes of a task leave the number unchanged.
      if (before === after && (after === 0 || isSameCollection(preImage!, object))) return
      if (before !== 0) add(this.#byCollection, preImage!, -before)
      if (after !== 0) add(this.#byCollection, object, after)
    })
  }

  #sums(): Map<string, number> {
    const sums = new Map<string, number>()
    const scan = this.#node.collection(rangeDeletions)?.scan()
    for (let record = scan?.next() ?? null; record !== null; record = scan!.next())
      add(sums, record.document, orphansOf(record.document))
    return sums
  }
}

function orphansOf(task: Uint8Array): number {
  return orphansIn(findField(task, 'numOrphanDocs'))
}

function isSameCollection(a: Uint8Array, b: Uint8Array): boolean {
  const [of, other] = [findField(a, 'collectionUuid'), findField(b, 'collectionUuid')]
  return of !== undefined && other !== undefined && of.isIdentical(other)
}

/** Ignores documents of clients that are no range deletions. */
function add(sums: Map<string, number>, task: Uint8Array, documents: number): void {
  const collection = findField(task, 'collectionUuid')
  if (collection?.type !== BsonType.binary) return
  const uuid = hexOf(collection.asBinary())
  sums.set(uuid, (sums.get(uuid) ?? 0) + documents)
}
