/**
 * A predicate as explain and query shapes print it. Server: `MatchExpression::serialize` of each
 * expression.
 */
import { BsonType, DocumentWriter, int32Value, int64Value, RawValue, stringValue, boolValue } from '@shardlab/bson'
import type { FilterNode, PathNode } from './ast.js'

/** How the values of a predicate are written. */
export interface LiteralForm {
  value(writer: DocumentWriter, name: string, value: RawValue): void
  list(writer: DocumentWriter, name: string, values: readonly RawValue[]): void
  expression(writer: DocumentWriter, name: string, expression: RawValue): void
}

/** Unchanged. */
export const keptLiterals: LiteralForm = {
  value: (writer, name, value) => void writer.value(name, value),
  list(writer, name, values) {
    writer.startArray(name)
    values.forEach((value, i) => writer.value(String(i), value))
    writer.end()
  },
  expression: (writer, name, expression) => void writer.value(name, expression),
}

export function serializeFilter(root: FilterNode, form: LiteralForm): Uint8Array {
  const writer = new DocumentWriter(128)
  write(writer, root, form)
  return writer.finish()
}

function write(writer: DocumentWriter, node: FilterNode, form: LiteralForm): void {
  switch (node.kind) {
    case 'and':
      if (node.children.length > 0) writeList(writer, '$and', node.children, form)
      return
    case 'or':
      writeList(writer, '$or', node.children, form)
      return
    case 'nor':
      writeList(writer, '$nor', node.children, form)
      return
    case 'not':
      return writeNot(writer, node.child, form)
    case 'always':
      form.value(writer, node.value ? '$alwaysTrue' : '$alwaysFalse', int32Value(1))
      return
    case 'expr':
      form.expression(writer, '$expr', node.expression)
      return
    case 'jsonSchema':
      writer.value('$jsonSchema', node.schema)
      return
    default:
      writer.startDocument(node.path)
      writeOperator(writer, node, form)
      writer.end()
  }
}

function writeList(writer: DocumentWriter, name: string, children: readonly FilterNode[], form: LiteralForm): void {
  writer.startArray(name)
  children.forEach((child, i) => {
    writer.startDocument(String(i))
    write(writer, child, form)
    writer.end()
  })
  writer.end()
}

/** `$not` for predicates on one path, otherwise a `$nor` of one. */
function writeNot(writer: DocumentWriter, child: FilterNode, form: LiteralForm): void {
  const operands = child.kind === 'and' ? child.children : [child]
  const path = operands.length > 0 && isOnPath(operands[0]!) ? operands[0].path : null
  if (path === null || !operands.every((operand) => isOnPath(operand) && operand.path === path)) {
    if (operands.length === 0) form.value(writer, '$alwaysFalse', int32Value(1))
    else writeList(writer, '$nor', [child], form)
    return
  }
  writer.startDocument(path).startDocument('$not')
  for (const operand of operands) writeOperator(writer, operand as PathNode, form)
  writer.end().end()
}

function isOnPath(node: FilterNode): node is PathNode {
  return 'path' in node
}

function writeOperator(writer: DocumentWriter, node: PathNode, form: LiteralForm): void {
  switch (node.kind) {
    case 'comparison':
      form.value(writer, `$${node.operator}`, node.value)
      return
    case 'in':
      form.list(writer, '$in', [
        ...node.values,
        ...node.regexes.map(({ pattern, flags }) => regexValue(pattern, flags)),
      ])
      return
    case 'regex':
      form.value(writer, '$regex', stringValue(node.pattern))
      if (node.flags !== '') form.value(writer, '$options', stringValue(node.flags))
      return
    case 'exists':
      form.value(writer, '$exists', boolValue(true))
      return
    case 'type':
      writer.startArray('$type')
      typesOf(node.types).forEach((type, i) =>
        writer.value(String(i), typeof type === 'string' ? stringValue(type) : int32Value(type)),
      )
      writer.end()
      return
    case 'size':
      form.value(writer, '$size', int32Value(node.size))
      return
    case 'mod':
      writer.startArray('$mod')
      form.value(writer, '0', int64Value(node.divisor))
      form.value(writer, '1', int64Value(node.remainder))
      writer.end()
      return
    case 'bits':
      form.list(
        writer,
        `$bits${node.mode[0]!.toUpperCase()}${node.mode.slice(1)}`,
        node.positions.map((position) => int32Value(position)),
      )
      return
    case 'elemMatchObject':
      writer.startDocument('$elemMatch')
      write(writer, node.child, form)
      writer.end()
      return
    case 'elemMatchValue':
      writer.startDocument('$elemMatch')
      for (const child of node.children) writeElement(writer, child, form)
      writer.end()
  }
}

function writeElement(writer: DocumentWriter, node: FilterNode, form: LiteralForm): void {
  if (isOnPath(node)) writeOperator(writer, node, form)
  else if (node.kind === 'not' && isOnPath(node.child)) {
    writer.startDocument('$not')
    writeOperator(writer, node.child, form)
    writer.end()
  } else write(writer, node, form)
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
