/**
 * Collections of which a shard knows how many documents lie where, and not which. Only a simulated cluster has them, under scenarios whose data
 * would be too large: see the section on modes in docs/guides/simulate.md.
 */
import type { SizedRange } from '@shardlab/actor'
import type { Address } from '@shardlab/actor'
import { BsonType, CommandError, documentsOf, findField, firstFieldName, hexOf, sameBytes } from '@shardlab/bson'
import { splitNamespace } from '@shardlab/member'
import { type Entrant, type StorageNode } from '@shardlab/node'
import type { Collection } from '@shardlab/storage'
import { RangeSizes } from './range-sizes.js'

/** What the sizes of all shards of a cluster are kept in: as disks do, it outlives its shards. */
export class MeasuredDisks {
  readonly #byShard = new Map<Address, Map<string, RangeSizes>>()

  /** The sizes on one shard's disk, by the UUIDs of their collections. */
  of(shard: Address): Map<string, RangeSizes> {
    let sizes = this.#byShard.get(shard)
    if (sizes === undefined) this.#byShard.set(shard, (sizes = new Map()))
    return sizes
  }
}

export interface MeasuredOptions {
  /** Which collections are measured, before they exist. */
  readonly namespaces: readonly string[]
  /** How fast a recipient gets the documents of a range, none of which are sent: bytes a second. */
  readonly cloneBytesPerSecond: number
  readonly disks: MeasuredDisks
}

/** One of them on this shard. */
export class MeasuredCollection {
  readonly uuid: Uint8Array
  readonly sizes: RangeSizes
  readonly #listeners = new Set<(grown: SizedRange) => void>()

  constructor(uuid: Uint8Array, sizes: RangeSizes) {
    this.uuid = uuid
    this.sizes = sizes
  }

  grow(grown: SizedRange): void {
    this.sizes.grow(grown)
    for (const listener of this.#listeners) listener(grown)
  }

  /** Hears of all that grows from now on. @returns a function that ends it */
  onGrowth(listener: (grown: SizedRange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** Commands about documents, of which there are none. */
const refused: ReadonlySet<string> = new Set([
  'aggregate',
  'bulkWrite',
  'count',
  'delete',
  'distinct',
  'explain',
  'find',
  'findAndModify',
  'insert',
  'mapReduce',
  'update',
  'validate',
])

/** Stages that would go on to documents. */
const readers: ReadonlySet<string | undefined> = new Set(['$facet', '$graphLookup', '$lookup', '$unionWith'])

/** A pipeline that begins with $collStats, as shells send it. */
function asksForSizes(ns: string, body: Uint8Array | undefined): boolean {
  const target = body === undefined ? undefined : findField(body, 'aggregate')
  if (target?.type !== BsonType.string || splitNamespace(ns)[1] !== target.asString()) return false
  const stages = documentsOf(findField(body!, 'pipeline')!).map((stage) => firstFieldName(stage))
  return stages[0] === '$collStats' && !stages.some((name) => readers.has(name))
}

export class MeasuredCollections {
  readonly #node: StorageNode
  readonly #options: MeasuredOptions | null
  readonly #namespaces: ReadonlySet<string>
  /** A handful at most. */
  readonly #known: MeasuredCollection[] = []

  /** @param options null: there are none */
  constructor(node: StorageNode, options: MeasuredOptions | null) {
    this.#node = node
    this.#options = options
    this.#namespaces = new Set(options?.namespaces)
  }

  /** After the node has read its disk. */
  start(): void {
    if (this.#options === null) return
    const { context, engine } = this.#node
    const disk = this.#options.disks.of(context.address)
    const collections = engine.collections().map(({ uuid }) => hexOf(uuid))
    // A disk that was destroyed has none of its collections any more.
    for (const uuid of disk.keys()) if (!collections.includes(uuid)) disk.delete(uuid)
    this.#node.observe(({ op, ns, uuid }) => {
      // Nothing there is measured, and where all else is measured this is all that is written.
      if (op === 'c' || uuid === null || ns.startsWith('config.')) return
      if (this.#namespaces.has(ns) || this.#isKnown(uuid))
        throw new Error(`a document was written to ${ns}, which is measured`)
    })
  }

  /** Undefined for a collection that has documents. */
  of({ ns, uuid }: Collection): MeasuredCollection | undefined {
    if (this.#options === null) return undefined
    for (const known of this.#known) if (sameBytes(known.uuid, uuid)) return known
    const id = hexOf(uuid)
    const disk = this.#options.disks.of(this.#node.context.address)
    let sizes = disk.get(id)
    if (sizes === undefined) {
      if (!this.#namespaces.has(ns)) return undefined
      disk.set(id, (sizes = new RangeSizes()))
    }
    const collection = new MeasuredCollection(uuid, sizes)
    this.#known.push(collection)
    return collection
  }

  #isKnown(uuid: Uint8Array): boolean {
    for (const known of this.#known) if (sameBytes(known.uuid, uuid)) return true
    return false
  }

  /** How long it takes until so many bytes have been cloned, in ms. */
  cloneMs(bytes: number): number {
    return this.#options === null ? 0 : Math.ceil((bytes * 1000) / this.#options.cloneBytesPerSecond)
  }

  /** @throws CommandError 115 CommandNotSupported for a command about documents of a collection that has none */
  check(ns: string, { operation }: Entrant): void {
    if (this.#options === null || !refused.has(operation.command)) return
    if (!this.#isMeasured(ns) || asksForSizes(ns, operation.body)) return
    throw new CommandError(
      'CommandNotSupported',
      `${ns} is measured: it has sizes of ranges instead of documents, and no ${operation.command}`,
    )
  }

  /** @throws CommandError 115 CommandNotSupported for a collection whose documents cannot be copied, as there are none */
  checkCopied(ns: string): void {
    if (this.#options === null || !this.#isMeasured(ns)) return
    throw new CommandError(
      'CommandNotSupported',
      `${ns} is measured: it has sizes of ranges instead of documents, which only chunks can move`,
    )
  }

  #isMeasured(ns: string): boolean {
    const collection = this.#node.collection(ns)
    return collection === undefined ? this.#namespaces.has(ns) : this.of(collection) !== undefined
  }
}
