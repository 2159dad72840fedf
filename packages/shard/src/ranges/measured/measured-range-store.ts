/**
 * Collections with sizes of ranges instead of documents, in simulated clusters with more data than
 * memory: see the section on modes in docs/guides/simulate.md.
 */
import type { ReshardingProvenance } from '@shardlab/actor'
import { BsonType, CommandError, documentsOf, findField, firstFieldName, hexOf, sameBytes } from '@shardlab/bson'
import { splitNamespace } from '@shardlab/member'
import { type Entrant, type NodeHost } from '@shardlab/node'
import type { Collection } from '@shardlab/storage'
import type { CollectionRanges, RangeStore } from '../collection-ranges.js'
import { StoredRanges } from '../stored/stored-ranges.js'
import { MeasuredCollection } from './measured-collection.js'
import type { MeasuredOptions } from './measured-options.js'
import { MeasuredRanges } from './measured-ranges.js'
import { RangeSizes } from './range-sizes.js'

/** Commands that need documents. */
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

const readers: ReadonlySet<string | undefined> = new Set(['$facet', '$graphLookup', '$lookup', '$unionWith'])

/** Whether the command is a $collStats pipeline, as shells send it. */
function asksForSizes(ns: string, body: Uint8Array | undefined): boolean {
  const target = body === undefined ? undefined : findField(body, 'aggregate')
  if (target?.type !== BsonType.string || splitNamespace(ns)[1] !== target.asString()) return false
  const stages = documentsOf(findField(body!, 'pipeline')!).map((stage) => firstFieldName(stage))
  return stages[0] === '$collStats' && !stages.some((name) => readers.has(name))
}

export class MeasuredRangeStore implements RangeStore {
  readonly #node: NodeHost
  readonly #options: MeasuredOptions
  readonly #namespaces: ReadonlySet<string>
  readonly #known: MeasuredCollection[] = []
  #changed: ((uuid: Uint8Array) => void) | null = null

  constructor(node: NodeHost, options: MeasuredOptions) {
    this.#node = node
    this.#options = options
    this.#namespaces = new Set(options.namespaces)
  }

  start(): void {
    const { engine, role } = this.#node
    const disk = this.#options.disks.of(role.setName)
    const collections = engine.collections().map(({ uuid }) => hexOf(uuid))
    // A destroyed disk has lost its collections. Of a set, only the primary's matters.
    for (const uuid of disk.keys()) if (!collections.includes(uuid)) disk.delete(uuid)
    this.#node.observe(({ op, ns, uuid }) => {
      // Most writes of a measured cluster go to `config`, which is never measured.
      if (op === 'c' || op === 'n' || uuid === null || ns.startsWith('config.')) return
      if (this.#namespaces.has(ns) || this.#isKnown(uuid))
        throw new Error(`a document was written to ${ns}, which is measured`)
    })
  }

  watchSizes(changed: (uuid: Uint8Array) => void): void {
    this.#changed = changed
  }

  of(collection: Collection): CollectionRanges {
    const measured = this.#measured(collection)
    return measured === undefined
      ? new StoredRanges(this.#node, collection)
      : new MeasuredRanges(this.#node, collection, measured, this.#options)
  }

  ofTemporary(ns: string, collection: Collection): CollectionRanges {
    if (!this.#isMeasured(ns)) return this.of(collection)
    // Another attempt of a resharding has the same UUID.
    const at = this.#known.findIndex(({ uuid }) => sameBytes(uuid, collection.uuid))
    if (at >= 0) this.#known.splice(at, 1)
    this.#options.disks.of(this.#node.role.setName).set(hexOf(collection.uuid), new RangeSizes())
    return this.of(collection)
  }

  /** Undefined: the collection stores documents. */
  #measured({ ns, uuid }: Collection): MeasuredCollection | undefined {
    for (const known of this.#known) if (sameBytes(known.uuid, uuid)) return known
    const id = hexOf(uuid)
    const disk = this.#options.disks.of(this.#node.role.setName)
    let sizes = disk.get(id)
    if (sizes === undefined) {
      if (!this.#namespaces.has(ns)) return undefined
      disk.set(id, (sizes = new RangeSizes()))
    }
    const collection = new MeasuredCollection(uuid, sizes, () => this.#changed?.(uuid))
    this.#known.push(collection)
    return collection
  }

  #isKnown(uuid: Uint8Array): boolean {
    for (const known of this.#known) if (sameBytes(known.uuid, uuid)) return true
    return false
  }

  checkCommand(ns: string, { operation }: Entrant): void {
    if (!refused.has(operation.command)) return
    if (!this.#isMeasured(ns) || asksForSizes(ns, operation.body)) return
    throw new CommandError(
      'CommandNotSupported',
      `${ns} is measured: it has sizes of ranges instead of documents, so ${operation.command} is not supported`,
    )
  }

  checkCopied(ns: string, provenance: ReshardingProvenance): void {
    if (!this.#isMeasured(ns)) return
    const isResharded = provenance === null || provenance === 'reshardCollection'
    if (isResharded && this.#options.rekey !== undefined) return
    throw new CommandError(
      'CommandNotSupported',
      `${ns} is measured: it has sizes of ranges instead of documents, so ${provenance ?? 'reshardCollection'} is not supported`,
    )
  }

  #isMeasured(ns: string): boolean {
    const collection = this.#node.collection(ns)
    return collection === undefined ? this.#namespaces.has(ns) : this.#measured(collection) !== undefined
  }
}
