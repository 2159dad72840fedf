/**
 * A query in the planner's messages. Server: `CanonicalQuery::toString`, the `debugString` of match
 * expressions.
 */
import { DocumentWriter, emptyDocument } from '@shardlab/bson'
import { formatDocument, formatValue, type FilterNode, type SortPattern } from '@shardlab/query'
import type { QueryRequest } from './query-request.js'

export type ShownQuery = Pick<QueryRequest, 'filter' | 'sort' | 'projection' | 'skip' | 'limit'>

/**
 * `ns=… limit=…Tree: …Sort: …Proj: …`, in lines; only the namespace if a predicate has no text
 * here.
 */
export function queryText(ns: string, { filter, sort, projection, skip = 0, limit = 0 }: ShownQuery): string {
  const tree = treeOf(filter.root, 0)
  if (tree === null) return `ns=${ns}`
  const bounds = `${limit > 0 ? ` limit=${limit}` : ''}${skip > 0 ? ` skip=${skip}` : ''}`
  return `ns=${ns}${bounds}Tree: ${tree}Sort: ${formatDocument(sortDocument(sort))}\nProj: ${formatDocument(projection?.document ?? emptyDocument)}\n`
}

function sortDocument(sort: SortPattern | undefined): Uint8Array {
  const writer = new DocumentWriter(64)
  if (sort?.natural != null) writer.int32('$natural', sort.natural)
  for (const { path, descending } of sort?.parts ?? []) writer.int32(path.dotted, descending ? -1 : 1)
  return writer.finish()
}

function treeOf(node: FilterNode, depth: number): string | null {
  const line = (text: string): string => `${' '.repeat(4 * depth)}${text}\n`
  const withChildren = (name: string, children: readonly FilterNode[]): string | null => {
    const texts = children.map((child) => treeOf(child, depth + 1))
    return texts.includes(null) ? null : line(name) + texts.join('')
  }
  switch (node.kind) {
    case 'and':
    case 'or':
    case 'nor':
      return withChildren(`$${node.kind}`, node.children)
    case 'not':
      return withChildren('$not', [node.child])
    case 'comparison':
      return line(`${node.path} $${node.operator} ${formatValue(node.value)}`)
    case 'in':
      return node.regexes.length > 0
        ? null
        : line(`${node.path} $in [ ${node.values.map((value) => `${formatValue(value)} `).join('')}]`)
    case 'exists':
      return line(`${node.path} exists`)
    case 'always':
      return node.value ? line('$and') : null
    default:
      return null
  }
}
