/** Emits `collection-size` after every change, so that listeners know the maxima exactly. */
import { BsonType, findField, sameBytes } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import type { Collection } from '@shardlab/storage'
import type { OrphanCounter } from '../host/host.js'
import type { RangeStore } from './collection-ranges.js'

const rangeDeletions = 'config.rangeDeletions'
const internal = /^(?:admin|config|local)\./

interface SizedHost {
  readonly node: NodeHost
  readonly ranges: RangeStore
  readonly orphans: OrphanCounter
}

/**
 * Orphans count with the average size of a document.
 * Server: shardsvr_get_stats_for_balancing_command.cpp.
 */
export function ownedBytesOf({ ranges, orphans }: SizedHost, collection: Collection): number {
  const { documents, bytes } = ranges.of(collection).totals
  return documents === 0 ? 0 : Math.max(0, bytes - orphans.of(collection.uuid) * Math.trunc(bytes / documents))
}

export class SizeReports {
  readonly #host: SizedHost
  /** Namespaces with a size other than 0. */
  readonly #reported = new Set<string>()

  constructor(host: SizedHost) {
    this.#host = host
  }

  /** Call once, after the node has read its disk. */
  start(): void {
    const { node, ranges, orphans } = this.#host
    // Counts of orphans must change before this observer reads them.
    orphans.watch()
    node.observe(({ op, ns, object }, preImage) => {
      if (op === 'c') this.#reportAll()
      else if (ns === rangeDeletions) this.#reportTask(preImage ?? object)
      else if (!internal.test(ns)) this.#report(node.collection(ns))
    })
    ranges.watchSizes((uuid) => this.#report(this.#find(uuid)))
    this.#reportAll()
  }

  #reportAll(): void {
    const { node } = this.#host
    const present = node.engine.collections().filter(({ ns }) => !internal.test(ns))
    // First: after a renaming, both names would count at the same time.
    for (const ns of this.#reported) if (!present.some((collection) => collection.ns === ns)) this.#emit(ns, none)
    for (const collection of present) this.#report(collection)
  }

  #reportTask(task: Uint8Array): void {
    const uuid = findField(task, 'collectionUuid')
    if (uuid?.type === BsonType.binary) this.#report(this.#find(uuid.asBinary()))
  }

  #find(uuid: Uint8Array): Collection | undefined {
    return this.#host.node.engine.collections().find((collection) => sameBytes(collection.uuid, uuid))
  }

  #report(collection: Collection | undefined): void {
    if (collection === undefined) return
    const { ranges, orphans } = this.#host
    const { documents, bytes } = ranges.of(collection).totals
    const ownedBytes = ownedBytesOf(this.#host, collection)
    this.#emit(collection.ns, { documents, bytes, ownedBytes, orphans: orphans.of(collection.uuid) })
  }

  #emit(ns: string, size: typeof none): void {
    const { context } = this.#host.node
    if (size.bytes > 0) this.#reported.add(ns)
    else this.#reported.delete(ns)
    context.emit({ type: 'collection-size', atMs: context.now(), shard: context.address, ns, ...size })
  }
}

const none = { documents: 0, bytes: 0, ownedBytes: 0, orphans: 0 }
