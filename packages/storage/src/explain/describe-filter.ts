/**
 * A predicate as explain prints it in `parsedQuery` and in the `filter` of a stage. Server:
 * `MatchExpression::serialize` of each expression.
 */
import { BsonType, DocumentWriter, int32Value, RawValue, stringValue } from '@shardlab/bson'
import type { FilterNode, PathNode } from '@shardlab/query'
import { normalized } from '../planner/normalize.js'

export function describeFilter(root: FilterNode): Uint8Array {
  const writer = new DocumentWriter(128)
  write(writer, normalized(root))
  return writer.finish()
}

function write(writer: DocumentWriter, node: FilterNode): void {
  switch (node.kind) {
    case 'and':
      if (node.children.length > 0) writeList(writer, '$and', node.children)
      return
    case 'or':
      writeList(writer, '$or', node.children)
      return
    case 'nor':
      writeList(writer, '$nor', node.children)
      return
    case 'not':
      return writeNot(writer, node.child)
    case 'always':
      writer.int32(node.value ? '$alwaysTrue' : '$alwaysFalse', 1)
      return
    case 'expr':
      writer.value('$expr', node.expression)
      return
    case 'jsonSchema':
      writer.value('$jsonSchema', node.schema)
      return
    default:
      writer.startDocument(node.path)
      writeOperator(writer, node)
      writer.end()
  }
}

function writeList(writer: DocumentWriter, name: string, children: readonly FilterNode[]): void {
  writer.startArray(name)
  children.forEach((child, i) => {
    writer.startDocument(String(i))
    write(writer, child)
    writer.end()
  })
  writer.end()
}

/** `$not` for predicates on one path, otherwise a `$nor` of one. */
function writeNot(writer: DocumentWriter, child: FilterNode): void {
  const operands = child.kind === 'and' ? child.children : [child]
  const path = operands.length > 0 && isOnPath(operands[0]!) ? operands[0].path : null
  if (path === null || !operands.every((operand) => isOnPath(operand) && operand.path === path)) {
    if (operands.length === 0) writer.int32('$alwaysFalse', 1)
    else writeList(writer, '$nor', [child])
    return
  }
  writer.startDocument(path).startDocument('$not')
  for (const operand of operands) writeOperator(writer, operand as PathNode)
  writer.end().end()
}

function isOnPath(node: FilterNode): node is PathNode {
  return 'path' in node
}

function writeOperator(writer: DocumentWriter, node: PathNode): void {
  switch (node.kind) {
    case 'comparison':
      writer.value(`$${node.operator}`, node.value)
      return
    case 'in':
      writer.startArray('$in')
      node.values.forEach((value, i) => writer.value(String(i), value))
      node.regexes.forEach(({ pattern, flags }, i) =>
        writer.value(String(node.values.length + i), regexValue(pattern, flags)),
      )
      writer.end()
      return
    case 'regex':
      writer.string('$regex', node.pattern)
      if (node.flags !== '') writer.string('$options', node.flags)
      return
    case 'exists':
      writer.bool('$exists', true)
      return
    case 'type':
      writer.startArray('$type')
      typesOf(node.types).forEach((type, i) =>
        writer.value(String(i), typeof type === 'string' ? stringValue(type) : int32Value(type)),
      )
      writer.end()
      return
    case 'size':
      writer.int32('$size', node.size)
      return
    case 'mod':
      writer.startArray('$mod').int64('0', node.divisor).int64('1', node.remainder).end()
      return
    case 'bits':
      writer.startArray(`$bits${node.mode[0]!.toUpperCase()}${node.mode.slice(1)}`)
      node.positions.forEach((position, i) => writer.int32(String(i), position))
      writer.end()
      return
    case 'elemMatchObject':
      writer.startDocument('$elemMatch')
      write(writer, node.child)
      writer.end()
      return
    case 'elemMatchValue':
      writer.startDocument('$elemMatch')
      for (const child of node.children) writeElement(writer, child)
      writer.end()
  }
}

function writeElement(writer: DocumentWriter, node: FilterNode): void {
  if (isOnPath(node)) writeOperator(writer, node)
  else if (node.kind === 'not' && isOnPath(node.child)) {
    writer.startDocument('$not')
    writeOperator(writer, node.child)
    writer.end()
  } else write(writer, node)
}

const numberTypes: readonly number[] = [BsonType.double, BsonType.int32, BsonType.int64, BsonType.decimal128]

/** The server prints all four number types together as `number`. */
function typesOf(types: readonly number[]): (number | string)[] {
  if (!numberTypes.every((type) => types.includes(type))) return [...types]
  return ['number', ...types.filter((type) => !numberTypes.includes(type))]
}

function regexValue(pattern: string, flags: string): RawValue {
  const bytes = Buffer.from(`${pattern}\0${flags}\0`, 'utf8')
  return new RawValue(BsonType.regex, bytes, 0, bytes.length)
}
