/**
 * Finds whose filter is an equality on `_id` and nothing else. Their plan, IDHACK without a shard
 * filter, does not depend on the value, so the check runs once per command shape; then only the
 * value is checked. Server: get_executor.cpp, isIdHackEligibleQuery; plan_executor_express.cpp.
 */
import { soleEquality, type SoleEquality } from '@shardlab/query'
import type { OwnershipFilter } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import { findOptionsOf } from '@shardlab/member'
import type { CursorSource } from '../cursors/cursor-manager.js'
import type { NodeInvocation } from '../host/node-host.js'

/**
 * Only for finds whose first batch may hold a document. Null: the find needs a plan.
 * @param ownership null: every document may be read
 * @throws CommandError as {@link findOptionsOf}
 */
export function sourceById(
  { host, args }: NodeInvocation,
  collection: Collection,
  ownership: OwnershipFilter | null,
): CursorSource | null {
  const { isFilterOnly } = args.fixed(findOptionsOf, findOptionsOf, findOptionsOf)
  const filter = isFilterOnly ? args.value('filter') : undefined
  const equality = filter === undefined ? null : soleEquality(filter, '_id')
  const idIndex = collection.indexes()[0]
  if (equality === null || idIndex === undefined || collection.defaultCollation !== null) return null
  if (!ownsId(ownership, equality)) return null
  const document = collection.findById(equality.value)?.document ?? null
  idIndex.usage.ops++
  if (document !== null) host.statistics.queries.addLookupById()
  return new OneDocument(document)
}

/**
 * Whether the `_id` proves that the shard owns the document: no orphan has a key that its shard
 * owns.
 */
function ownsId(ownership: OwnershipFilter | null, id: SoleEquality): boolean {
  if (ownership === null) return true
  const { paths } = ownership.placement.shardKey
  return paths.length === 1 && paths[0] === id.path && ownership.ownsValues(id)
}

/** Exhausted after its document is returned, as the stage IDHACK is. */
class OneDocument implements CursorSource {
  #document: Uint8Array | null
  #ended: boolean

  constructor(document: Uint8Array | null) {
    this.#document = document
    this.#ended = false
  }

  get isEOF(): boolean {
    return this.#ended
  }

  next(): Uint8Array | null {
    const document = this.#document
    this.#document = null
    this.#ended = true
    return document
  }
}
