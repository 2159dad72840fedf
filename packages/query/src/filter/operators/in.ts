import {
  BsonType,
  CommandError,
  compareValues,
  elementsOf,
  encodeKeyString,
  RawValue,
  type StringComparator,
} from '@shardlab/bson'
import type { InNode, RegexNode } from '../ast.js'
import type { FilterParser, LeafCompiler, PathOperator } from '../operator.js'
import { comparisonTest } from './comparison.js'
import { compileRegex, regexNodeOfValue } from './regex.js'

function parseIn(path: string, argument: RawValue, parser: FilterParser, name: string): InNode {
  if (argument.type !== BsonType.array) throw new CommandError('BadValue', `${name} needs an array`)
  const values: RawValue[] = []
  const regexes: RegexNode[] = []
  for (const element of elementsOf(argument)) {
    if (parser.isOperatorDocument(element)) throw new CommandError('BadValue', `cannot nest $ under ${name}`)
    if (element.type === BsonType.undefined)
      throw new CommandError('BadValue', 'InMatchExpression equality cannot be undefined')
    if (element.type === BsonType.regex) regexes.push(regexNodeOfValue(path, element, parser.language))
    else values.push(element)
  }
  return { kind: 'in', path, values, regexes }
}

export const inOperators: readonly PathOperator[] = [
  {
    name: '$in',
    manualPage: 'query/in',
    status: 'complete',
    parse: (path, argument, parser) => parseIn(path, argument, parser, '$in'),
  },
  {
    name: '$nin',
    manualPage: 'query/nin',
    status: 'complete',
    parse: (path, argument, parser) => ({ kind: 'not', child: parseIn(path, argument, parser, '$nin') }),
  },
]

/** Above this, a set of keys is faster than a linear search. */
const smallList = 8

export const compileIn: LeafCompiler<InNode> = (node, compiler) => {
  const regexes = node.regexes.map((regex) => compileRegex(regex, compiler).test)
  if (node.values.length <= smallList) {
    const tests = [...node.values.map((value) => comparisonTest('eq', value, compiler)), ...regexes]
    return {
      leafArrays: 'elements',
      test(type, bytes, start, end) {
        for (let i = 0; i < tests.length; i++) if (tests[i]!(type, bytes, start, end)) return true
        return false
      },
    }
  }
  const hasNull = node.values.some((value) => value.type === BsonType.null)
  const holds = membership(node.values, compiler.strings)
  const { undefinedMatchesNull } = compiler
  return {
    leafArrays: 'elements',
    test(type, bytes, start, end) {
      if (type === 0) return hasNull
      if (type === BsonType.undefined) return hasNull && undefinedMatchesNull
      if (holds(new RawValue(type, bytes, start, end))) return true
      for (let i = 0; i < regexes.length; i++) if (regexes[i]!(type, bytes, start, end)) return true
      return false
    },
  }
}

function membership(values: readonly RawValue[], strings: StringComparator | undefined): (value: RawValue) => boolean {
  if (strings === undefined) {
    const keys = new Set(values.map((value) => encodeKeyString([value])))
    return (value) => keys.has(encodeKeyString([value]))
  }
  const sorted = values.toSorted((a, b) => compareValues(a, b, strings))
  return (value) => {
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = (low + high) >> 1
      const order = compareValues(sorted[middle], value, strings)
      if (order === 0) return true
      if (order < 0) low = middle + 1
      else high = middle
    }
    return false
  }
}
