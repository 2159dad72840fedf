import {
  BsonType,
  CommandError,
  cstringEnd,
  elementsOf,
  FieldIterator,
  firstFieldName,
  valueEnd,
  type RawValue,
} from '@shardlab/bson'
import { badValue, nonNegativeInt32Argument } from '../../values/integer-argument.js'
import { andOf, type ElemMatchObjectNode, type ElemMatchValueNode, type FilterNode, type SizeNode } from '../ast.js'
import type { FilterParser, LeafCompiler, PathOperator } from '../operator.js'
import { comparisonNode } from './comparison.js'
import { regexNodeOfValue } from './regex.js'

function parseSize(path: string, argument: RawValue): FilterNode {
  const size = badValue('Failed to parse $size. ', () => nonNegativeInt32Argument('$size', argument))
  return { kind: 'size', path, size }
}

const logicalNames = new Set(['$and', '$or', '$nor', '$where'])

function parseElemMatch(path: string, argument: RawValue, parser: FilterParser): FilterNode {
  if (argument.type !== BsonType.object) throw new CommandError('BadValue', '$elemMatch needs an Object')
  const document = argument.slice()
  const isValue = parser.isOperatorDocument(argument, true) && !logicalNames.has(firstFieldName(document)!)
  if (!isValue) return { kind: 'elemMatchObject', path, child: parser.parseElement(document) }
  return { kind: 'elemMatchValue', path, children: parser.parseOperators('', document) }
}

function isElemMatch(value: RawValue): boolean {
  return value.type === BsonType.object && firstFieldName(value.slice()) === '$elemMatch'
}

function parseAll(path: string, argument: RawValue, parser: FilterParser): FilterNode {
  if (argument.type !== BsonType.array) throw new CommandError('BadValue', '$all needs an array')
  const elements = elementsOf(argument)
  if (elements.length === 0) return { kind: 'always', value: false }
  const elemMatches = isElemMatch(elements[0]!)
  return andOf(
    elements.map((element) => {
      if (elemMatches) {
        if (!isElemMatch(element)) throw new CommandError('BadValue', '$all/$elemMatch has to be consistent')
        return andOf(parser.parseOperators(path, element.slice()))
      }
      if (parser.startsWithOperator(element)) throw new CommandError('BadValue', 'no $ expressions in $all')
      return element.type === BsonType.regex
        ? regexNodeOfValue(path, element, parser.language)
        : comparisonNode(path, 'eq', element)
    }),
  )
}

export const arrayOperators: readonly PathOperator[] = [
  { name: '$size', manualPage: 'query/size', status: 'complete', parse: parseSize },
  { name: '$all', manualPage: 'query/all', status: 'complete', parse: parseAll },
  { name: '$elemMatch', manualPage: 'query/elemMatch', status: 'complete', parse: parseElemMatch },
]

export const compileSize: LeafCompiler<SizeNode> = (node) => ({
  leafArrays: 'whole',
  test(type, bytes, start) {
    if (type !== BsonType.array) return false
    let count = 0
    for (const it = new FieldIterator(bytes, start); it.next();) if (++count > node.size) return false
    return count === node.size
  },
})

export const compileElemMatchObject: LeafCompiler<ElemMatchObjectNode> = (node, compiler) => {
  const child = compiler.compileDocument(node.child)
  return {
    leafArrays: 'whole',
    test: (type, bytes, start) =>
      type === BsonType.array &&
      someElement(
        bytes,
        start,
        (elementType, at) => (elementType === BsonType.object || elementType === BsonType.array) && child(bytes, at),
      ),
  }
}

export const compileElemMatchValue: LeafCompiler<ElemMatchValueNode> = (node, compiler) => {
  const tests = node.children.map((child) => compiler.compileValue(child))
  return {
    leafArrays: 'whole',
    test: (type, bytes, start) =>
      type === BsonType.array &&
      someElement(bytes, start, (elementType, at, end) => tests.every((test) => test(elementType, bytes, at, end))),
  }
}

function someElement(
  bytes: Uint8Array,
  arrayStart: number,
  test: (type: number, start: number, end: number) => boolean,
): boolean {
  let at = arrayStart + 4
  for (;;) {
    const type = bytes[at]!
    if (type === 0) return false
    const start = cstringEnd(bytes, at + 1)
    at = valueEnd(type, bytes, start)
    if (test(type, start, at)) return true
  }
}
