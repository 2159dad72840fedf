/**
 * A hash of what a query looks like, whatever its values: queries with the same one share a plan on a server.
 * Server: canonical_query_encoder.cpp, whose hashes are other numbers.
 */
import { FieldIterator } from '@shardlab/bson'
import type { FilterNode, SortPattern } from '@shardlab/query'
import type { Collection } from '@shardlab/storage'

export interface QueryShape {
  readonly filter: FilterNode
  readonly sort: SortPattern | null
  readonly projection: Uint8Array | null
  readonly collation: Uint8Array | null
}

/** Eight hexadecimal digits. */
export function queryHash(shape: QueryShape): string {
  return hash(textOf(shape))
}

/** {@link queryHash} with the indexes that there are. */
export function planCacheKey(shape: QueryShape, collection: Collection): string {
  return hash(
    `${textOf(shape)}|${collection
      .indexes()
      .map(({ name }) => name)
      .join()}`,
  )
}

function textOf({ filter, sort, projection, collation }: QueryShape): string {
  const order = sort?.parts.map(({ path, descending }) => `${path.dotted}${descending ? '-' : '+'}`) ?? []
  const strings = collation === null ? '' : Buffer.from(collation).toString('latin1')
  return [shapeOf(filter), order.join(), projection === null ? '' : namesOf(projection), strings].join('|')
}

function shapeOf(node: FilterNode): string {
  switch (node.kind) {
    case 'and':
    case 'or':
    case 'nor':
      return `${node.kind}(${node.children.map(shapeOf).sort().join(',')})`
    case 'not':
      return `not(${shapeOf(node.child)})`
    case 'elemMatchObject':
      return `elemMatch:${node.path}(${shapeOf(node.child)})`
    case 'elemMatchValue':
      return `elemMatch:${node.path}(${node.children.map(shapeOf).sort().join(',')})`
    case 'comparison':
      return `${node.operator}:${node.path}`
    case 'always':
      return String(node.value)
    default:
      return 'path' in node ? `${node.kind}:${node.path}` : node.kind
  }
}

function namesOf(projection: Uint8Array): string {
  const names: string[] = []
  for (const it = new FieldIterator(projection); it.next();) names.push(`${it.name()}${it.value().isTruthy() ? '+' : '-'}`)
  return names.join()
}

/** FNV-1a of 32 bits. */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0
  return value.toString(16).toUpperCase().padStart(8, '0')
}
