/** Server: collation_index_key.cpp. */
import { BsonType, DocumentWriter, FieldIterator, RawValue } from '@shardlab/bson'
import type { ComparisonNode, FilterNode, InNode } from '@shardlab/query'
import type { StringLabels } from './string-labels.js'

export function isCollatable(type: number): boolean {
  return type === BsonType.string || type === BsonType.symbol || type === BsonType.object || type === BsonType.array
}

export function labelled(value: RawValue, labels: StringLabels): RawValue {
  switch (value.type) {
    case BsonType.string:
    case BsonType.symbol:
      return labelValue(labels.labelOf(value.asString()))
    case BsonType.object:
    case BsonType.array: {
      const writer = new DocumentWriter(value.end - value.start + 32)
      for (const it = new FieldIterator(value.bytes, value.start); it.next();)
        writer.value(it.name(), labelled(it.value(), labels))
      const bytes = writer.finish()
      return new RawValue(value.type, bytes, 0, bytes.length)
    }
    default:
      return value
  }
}

/** The label as a BSON string. It is only compared, so its bytes need not be valid UTF-8. */
function labelValue(label: string): RawValue {
  const bytes = Buffer.allocUnsafe(label.length + 5)
  bytes.writeInt32LE(label.length + 1, 0)
  bytes.write(label, 4, 'latin1')
  bytes[label.length + 4] = 0
  return new RawValue(BsonType.string, bytes, 0, bytes.length)
}

/**
 * For bounds in an index of labels. A regular expression cannot be applied to labels: it becomes a
 * predicate that any string may match.
 */
export function labelledPredicate(node: FilterNode, labels: StringLabels): FilterNode {
  switch (node.kind) {
    case 'and':
    case 'or':
    case 'nor':
      return { ...node, children: node.children.map((child) => labelledPredicate(child, labels)) }
    case 'elemMatchValue':
      return { ...node, children: node.children.map((child) => labelledPredicate(child, labels)) }
    case 'not':
    case 'elemMatchObject':
      return { ...node, child: labelledPredicate(node.child, labels) }
    case 'comparison':
      return { ...node, value: labelled(node.value, labels) } satisfies ComparisonNode
    case 'in':
      return node.regexes.length > 0
        ? { kind: 'exists', path: node.path }
        : ({ ...node, values: node.values.map((value) => labelled(value, labels)) } satisfies InNode)
    case 'regex':
      return { kind: 'exists', path: node.path }
    default:
      return node
  }
}
