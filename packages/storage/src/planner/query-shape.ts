/** The shape of a query: two queries that differ only in values have the same. */
import { FieldIterator } from '@shardlab/bson'
import type { FilterNode, SortPattern } from '@shardlab/query'

export interface QueryShape {
  readonly filter: FilterNode
  readonly sort: SortPattern | null
  readonly projection: Uint8Array | null
}

export function queryShapeText({ filter, sort, projection }: QueryShape): string {
  const order = sort?.parts.map(({ path, descending }) => `${path.dotted}${descending ? '-' : '+'}`) ?? []
  return [shapeOf(filter), order.join(), projection === null ? '' : namesOf(projection)].join('|')
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
  for (const it = new FieldIterator(projection); it.next();)
    names.push(`${it.name()}${it.value().isTruthy() ? '+' : '-'}`)
  return names.join()
}
