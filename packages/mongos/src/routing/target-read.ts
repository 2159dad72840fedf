import { compileFilter } from '@shardlab/query'
import { targetFilter, type CollectionPlacement, type Targeting } from '@shardlab/sharding'
import { BsonType, compareDocuments, emptyDocument, findField, isEmptyDocument, type StringComparator } from '@shardlab/bson'
import type { MongosInvocation } from '../command/invocation.js'

/** Which shards a read with this filter needs. @throws CommandError for a filter that is none */
export function targetRead(
  invocation: MongosInvocation,
  placement: CollectionPlacement,
  filter: Uint8Array | undefined,
  collation: Uint8Array | undefined,
): Targeting {
  const compiled = compileFilter(filter ?? emptyDocument, invocation.host.evaluation())
  return targetFilter(placement, compiled, collatedTargeting(placement, collation))
}

// Under any collation but the simple one equality of strings says nothing about their place; which collation does not matter.
const collated: { readonly strings: StringComparator } = { strings: (a, b) => (a < b ? -1 : a > b ? 1 : 0) }

/** Options of targeting under the collation of an operation, or the collection's own when it names none. */
export function collatedTargeting(placement: CollectionPlacement, collation: Uint8Array | undefined): { strings?: StringComparator } {
  return isSimpleCollation(effectiveCollation(placement, collation)) ? {} : collated
}

/** Does the operation compare strings as the collection's indexes do? Then equality on `_id` finds one document. */
export function hasDefaultCollation(placement: CollectionPlacement, collation: Uint8Array | undefined): boolean {
  const effective = effectiveCollation(placement, collation)
  const own = placement.defaultCollation
  if (isSimpleCollation(effective)) return isSimpleCollation(own)
  return own !== null && compareDocuments(effective!, own) === 0
}

function effectiveCollation(placement: CollectionPlacement, collation: Uint8Array | undefined): Uint8Array | null {
  return collation === undefined || isEmptyDocument(collation) ? placement.defaultCollation : collation
}

function isSimpleCollation(collation: Uint8Array | null): boolean {
  if (collation === null) return true
  const locale = findField(collation, 'locale')
  return locale?.type === BsonType.string && locale.asString() === 'simple'
}
