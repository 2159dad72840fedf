/** Manual page: method/cursor.hint. */
import { CommandError, compareDocuments, findField } from '@shardlab/bson'
import type { ShownQuery } from './query-text.js'
import { noPlanError } from './planner-errors.js'
import type { Collection, Index } from '../engine/types.js'

export type ResolvedHint = { readonly index: Index } | { readonly natural: 1 | -1 }

/**
 * @param query for messages
 * @throws CommandError BadValue if no index matches, IndexNotFound if several have the key pattern
 */
export function resolveHint(collection: Collection, hint: string | Uint8Array, query: ShownQuery): ResolvedHint {
  if (typeof hint !== 'string') {
    const natural = findField(hint, '$natural')
    if (natural !== undefined) return { natural: natural.asNumber() < 0 ? -1 : 1 }
  }
  const visible = collection.indexes().filter(({ hidden }) => !hidden)
  const matching = visible.filter(({ name, key }) =>
    typeof hint === 'string' ? name === hint : compareDocuments(key, hint) === 0,
  )
  if (matching.length > 1) {
    throw new CommandError(
      'IndexNotFound',
      `Hint matched multiple indexes, must hint by index name. Matched: ${matching.map(({ name }) => name).join(' and ')}`,
    )
  }
  const index = matching[0]
  if (index === undefined)
    throw noPlanError(collection, query, 'BadValue', 'hint provided does not correspond to an existing index')
  return { index }
}
